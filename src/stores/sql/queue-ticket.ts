import { hash } from 'node:crypto'

/**
 * Names a row of the queue by its number and its content. The number alone would not do: in a database that was put back
 * to an earlier state numbers are given again, and whoever then settles what was taken before would remove another message.
 */
export function ticketOf(seq: string | number, envelope: Uint8Array): string {
  return `${seq}.${contentOf(envelope)}`
}

/** What is before the point, and what is behind it. */
export function ticketParts(ticket: string): { readonly seq: string; readonly content: string } {
  const [seq = '', content = ''] = ticket.split('.')
  return { seq, content }
}

/** In hexadecimal digits. Ids are in the envelope, so that two messages never have the same. */
export function contentOf(envelope: Uint8Array): string {
  return hash('sha256', envelope)
}
