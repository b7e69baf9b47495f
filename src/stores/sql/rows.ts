import type { MessageInQueue, QueuedMessage, StoredParkedMessage, Tally, TallyColumn } from '../../contracts/index.ts'
import type { Dialect } from './dialect.ts'
import { queueTicket } from './queue-ticket.ts'

/** The columns of the parked table in the order in which `parkedIn` reads them. */
export function parkedColumns({ name, inMs, inBytes }: Dialect): string {
  return `handler, ${name('key')}, message_id, type, source, state, reason, errors, shape, attempts, step, independent, order_key,
    sequence, revision, ${inMs('parked_at')}, ${inMs('changed_at')}, ${inMs('next_at')},
    ${inBytes('envelope')}, ${inBytes(name('body'))}, ${inBytes('original_body')}, redrive, begun, released, business_id`
}

/**
 * One page of a queue as `listedIn` reads it, with `bytes_before` each message. The rows of the page are found in the index before
 * anything of them is added up.
 */
export function listedRows({ name, inBytes, inMs }: Dialect, rows: string, ticketTime: string): string {
  const bytes = `length(envelope) + length(${name('body')})`
  return `SELECT sequence, ${ticketTime} AS ticket_time, deliveries, ${inBytes('envelope')}, ${inBytes(name('body'))}, ${inMs('sent_at')} FROM (
      SELECT page.*, sum(${bytes}) OVER (ORDER BY sequence) - (${bytes}) AS bytes_before FROM (${rows}) AS page) AS listed`
}

/** How one database reads the non-null cells of a row. */
export interface CellReader<Cell> {
  textIn(cell: Cell | undefined): string
  bytesIn(cell: Cell | undefined): Uint8Array
}

/** Reads the rows of our tables. Times are in milliseconds since 1970. */
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
      businessId: optional(row[24], textIn),
    }
  }

  function queuedIn([sequence, sentAt, deliveries, envelope, body]: readonly Cell[]): QueuedMessage {
    return {
      ticket: queueTicket(textIn(sequence), textIn(sentAt)),
      deliveries: numberIn(deliveries),
      message: { envelope: bytesIn(envelope), body: bytesIn(body) },
    }
  }

  /** A row of `queuedIn` whose last cell says when it was sent. */
  const listedIn = (row: readonly Cell[]): MessageInQueue => ({ ...queuedIn(row), sentAt: dateIn(row[5]) })

  return { parkedIn, queuedIn, listedIn }
}

/** Reads a row of `tallySql`: the columns, the count and the times. */
export function tallyIn<By extends TallyColumn>(by: readonly By[]): (row: readonly unknown[]) => Tally<By> {
  return (row) => {
    const columns = Object.fromEntries(by.map((column, place) => [column, valueIn(column, row[place])]))
    const [count, firstAt, lastAt] = row.slice(by.length).map((cell) => Number(String(cell)))
    const times = by.length > 0 && { firstAt: new Date(firstAt as number), lastAt: new Date(lastAt as number) }
    return { ...columns, count, ...times } as unknown as Tally<By>
  }
}

function valueIn(column: TallyColumn, cell: unknown): string | number | boolean | undefined {
  if (cell === null || cell === undefined) return undefined
  const text = String(cell)
  if (column === 'released') return text === 't' || text === '1'
  return column === 'attempts' ? Number(text) : text
}
