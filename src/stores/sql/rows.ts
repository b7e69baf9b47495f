import type { QueuedMessage, StoredParkedMessage } from '../../contracts/index.ts'
import { queueTicket } from './queue-ticket.ts'

/** How one database reads the non-null cells of a row. */
export interface CellReader<Cell> {
  textIn(cell: Cell | undefined): string
  bytesIn(cell: Cell | undefined): Uint8Array
}

/** Reads the rows of our tables; the columns must come in the order used here. Times are in milliseconds since 1970. */
export function rowReaders<Cell>({ textIn, bytesIn }: CellReader<Cell>) {
  const numberIn = (cell: Cell | undefined): number => Number(textIn(cell))
  const dateIn = (cell: Cell | undefined): Date => new Date(numberIn(cell))
  const optional = <T>(cell: Cell | undefined, read: (cell: Cell) => T): T | undefined =>
    cell === null || cell === undefined ? undefined : read(cell)

  function parkedIn(row: readonly Cell[]): StoredParkedMessage {
    const text = (index: number): string => textIn(row[index])
    const number = (index: number): number => numberIn(row[index])
    return {
      handler: text(0),
      key: text(1),
      messageId: text(2),
      type: text(3),
      source: text(4),
      state: text(5) === 'dead' ? 'dead' : 'waiting',
      reason: text(6),
      errors: text(7),
      shape: text(8),
      attempts: number(9),
      step: number(10),
      independent: ['t', '1'].includes(text(11)),
      orderKey: optional(row[12], textIn),
      sequence: number(13),
      revision: number(14),
      parkedAt: dateIn(row[15]),
      changedAt: dateIn(row[16]),
      nextAt: dateIn(row[17]),
      message: { envelope: bytesIn(row[18]), body: bytesIn(row[19]) },
      originalBody: optional(row[20], bytesIn),
      redrive: optional(row[21], textIn),
      begun: number(22),
      released: ['t', '1'].includes(text(23)),
    }
  }

  function queuedIn([sequence, sentAt, deliveries, envelope, body]: readonly Cell[]): QueuedMessage {
    return {
      ticket: queueTicket(textIn(sequence), textIn(sentAt)),
      deliveries: numberIn(deliveries),
      message: { envelope: bytesIn(envelope), body: bytesIn(body) },
    }
  }

  return { parkedIn, queuedIn }
}
