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
