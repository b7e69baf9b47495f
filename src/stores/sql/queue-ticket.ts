/**
 * A row by its number and the time at which it was sent: in a restored database numbers begin again where the backup ends,
 * and whoever comes back late with an old ticket must not mean another message.
 */
export function queueTicket(sequence: string | number, sentAt: string | number): string {
  return `${sequence}.${sentAt}`
}

export function partsOfTicket(ticket: string): readonly [sequence: string, sentAt: string] {
  const [sequence = '', sentAt = ''] = ticket.split('.')
  return [sequence, sentAt]
}
