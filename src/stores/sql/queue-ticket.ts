/**
 * Identifies a row by its number and the time it was sent. In a restored database the numbers continue from where the backup
 * ended, so a late caller with an old ticket must not match a different message.
 */
export function queueTicket(sequence: string | number, sentAt: string | number): string {
  return `${sequence}.${sentAt}`
}

export function partsOfTicket(ticket: string): readonly [sequence: string, sentAt: string] {
  const [sequence = '', sentAt = ''] = ticket.split('.')
  return [sequence, sentAt]
}

export interface SortedTickets {
  /** To be removed if they are there. */
  readonly loose: readonly string[]
  /** To be removed, and they must be there. */
  readonly strict: readonly string[]
  /** They stay, and must be there. */
  readonly kept: readonly string[]
}

const none: readonly string[] = []

/** Almost always, everything that is removed must be there, and nothing stays. */
export function sortTickets(removed: readonly string[], present: readonly string[] = none): SortedTickets {
  if (present.length === 0) return { loose: removed, strict: none, kept: none }
  const [mustBeThere, goes] = [new Set(present), new Set(removed)]
  return {
    loose: removed.filter((ticket) => !mustBeThere.has(ticket)),
    strict: removed.filter((ticket) => mustBeThere.has(ticket)),
    kept: present.filter((ticket) => !goes.has(ticket)),
  }
}
