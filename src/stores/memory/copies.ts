import type { PackedMessage } from '../../contracts/index.ts'

/** Whoever sent or took a message may change its bytes; what is stored must not notice. */
export function copyOfMessage({ envelope, body }: PackedMessage): PackedMessage {
  return { envelope: new Uint8Array(envelope), body: new Uint8Array(body) }
}

export function byNumber(a: { readonly number: number }, b: { readonly number: number }): number {
  return a.number - b.number
}
