import { longestHiddenMs } from '../../../src/clock/index.ts'
import type { MessageToQueue, Queue, QueuedMessage, QueueTicket } from '../../../src/contracts/index.ts'
import { isOutgoing } from '../../../src/encoding/outgoing-queue.ts'
import { goneFrom, takenByAnother } from '../../../src/errors/index.ts'
import type { Session } from '../database/connection.ts'
import type { Row, SimDatabase, Visible } from '../database/sim-database.ts'
import { SimError } from '../database/sim-error.ts'
import { insertIfAbsent, inTransaction, takeSkippingLocked, update } from '../database/statements.ts'
import type { SimStoreContext } from './sim-store.ts'
import type { SimClient } from './sim-tx.ts'

export const queueTable = 'queue'

interface QueueRow extends Row, MessageToQueue {
  readonly queue: string
  /** As a sequence of a database: it grows with every row, whatever becomes of its transaction. */
  readonly sequence: number
  readonly deliveries: number
  readonly visibleAt: number
  readonly sentAt: number
}

/** Of all databases together: in one that is put back to an earlier state numbers are given again, and tickets must not be. */
let tickets = 0

/** A row as it is when it is sent, under a ticket that was never given before. */
export function newQueueRow(
  database: SimDatabase,
  queue: string,
  { key, message }: MessageToQueue,
): { readonly ticket: string; readonly row: Row } {
  const sequence = database.nextNumber()
  const sentAt = database.date().getTime()
  const row: QueueRow = { queue, key, message, sequence, deliveries: 0, visibleAt: 0, sentAt }
  return { ticket: `${sequence}.${tickets++}`, row }
}

/** Without `listen` and `announce`: everybody polls. */
export function simQueue(context: SimStoreContext): Queue<SimClient> {
  const inside = <T>(client: SimClient | undefined, work: (client: SimClient) => Promise<T>): Promise<T> =>
    client === undefined ? context.read(work) : work(client)
  const read = <T>(look: (all: readonly QueueRow[], now: number) => T): Promise<T> =>
    context.read((client) =>
      client.connection.call(
        'read',
        inTransaction((tx, session) => look(session.database.scan(tx, queueTable).map(rowOf), nowOf(session))),
      ),
    )
  return {
    send: (tx, queue, messages) =>
      inside(tx, (client) =>
        client.write(
          'send',
          inTransaction(async (transaction, session) => {
            for (const { key, message } of messages) {
              refuseLarge(message, context.messageBytes)
              const { ticket, row } = newQueueRow(session.database, queue, { key, message })
              await insertIfAbsent(session, transaction, queueTable, ticket, row)
              // Stays, so that it can be seen afterwards how often each was put there, and when.
              if (isOutgoing(queue))
                await insertIfAbsent(session, transaction, 'left', ticket, { message, queue, at: row.sentAt })
            }
          }),
        ),
      ),
    take: (queue, options) => context.read((client) => take(client, queue, options)),
    remove: (tx, queue, tickets, still) =>
      inside(tx, (client) =>
        client.write(
          'remove-queued',
          inTransaction(async (transaction, session) => {
            const present = new Set(still !== undefined && 'present' in still ? still.present : [])
            const deliveries = still !== undefined && 'deliveries' in still ? still.deliveries : undefined
            for (const ticket of new Set([...tickets, ...present]))
              await update(session, transaction, queueTable, ticket, (row) => {
                const isHere = row?.queue === queue
                if (present.has(ticket) && !isHere) throw goneFrom(queue)
                if (deliveries !== undefined && (!isHere || row.deliveries !== deliveries)) throw takenByAnother(queue)
                return isHere && tickets.includes(ticket) ? undefined : row
              })
          }),
        ),
      ),
    hide: (queue, taken, visibilityMs, { untaken = false } = {}) =>
      context.read((client) =>
        changeTaken(client, untaken ? 'give-back' : 'hide', queue, taken, (row, now) => ({
          ...row,
          deliveries: row.deliveries - (untaken ? 1 : 0),
          visibleAt: visibilityMs === 0 ? 0 : now + visibilityMs,
        })),
      ),
    count: (queue) =>
      read((all, now) => {
        const rows = all.filter((row) => row.queue === queue)
        const ready = rows.filter(({ visibleAt }) => visibleAt <= now).length
        const oldestMs = rows.length === 0 ? undefined : now - Math.min(...rows.map(({ sentAt }) => sentAt))
        return { ready, hidden: rows.length - ready, oldestMs }
      }),
    queues: () => read((rows) => [...new Set(rows.map(({ queue }) => queue))]),
  }
}

function take(
  client: SimClient,
  queue: string,
  { limit, visibilityMs, maxBytes = Number.POSITIVE_INFINITY }: Parameters<Queue<SimClient>['take']>[1],
): Promise<readonly QueuedMessage[]> {
  return client.connection.call(
    'take-queued',
    inTransaction(async (tx, session) => {
      const now = nowOf(session)
      const longest = now + longestHiddenMs(visibilityMs)
      const isStuck = (row: Row) => row.queue === queue && (row.visibleAt as number) > longest
      for (const { key, row } of await takeSkippingLocked(session, tx, queueTable, limit, isStuck, bySequence))
        await update(session, tx, queueTable, key, () => ({ ...row, visibleAt: longest }))
      const isHidden = (row: Row) => (row.visibleAt as number) > now
      const canBeTaken = (row: Row, all: readonly Visible[]) =>
        row.queue === queue && !isHidden(row) && !all.some((other) => isBefore(other.row, row) && isHidden(other.row))
      const due = await takeSkippingLocked(session, tx, queueTable, limit, canBeTaken, bySequence)
      // A rival may be taking what stands before it.
      const locked = new Set(due.map(({ key }) => key))
      const others = session.database.scan(tx, queueTable).filter(({ key }) => !locked.has(key))
      const unbroken = due.filter(({ row }) => !others.some((other) => isBefore(other.row, row)))
      const taken: QueuedMessage[] = []
      for (const { key, row } of fitting(unbroken, maxBytes)) {
        const deliveries = rowOf({ row }).deliveries + 1
        await update(session, tx, queueTable, key, () => ({ ...row, deliveries, visibleAt: now + visibilityMs }))
        taken.push({ ticket: key, deliveries, message: rowOf({ row }).message })
      }
      return taken
    }),
  )
}

function changeTaken(
  client: SimClient,
  step: string,
  queue: string,
  taken: readonly QueueTicket[],
  change: (row: QueueRow, now: number) => QueueRow,
): Promise<void> {
  return client.connection.call(
    step,
    inTransaction(async (tx, session) => {
      for (const { ticket, deliveries } of taken)
        await update(session, tx, queueTable, ticket, (row) =>
          row?.queue === queue && row.deliveries === deliveries ? change(rowOf({ row }), nowOf(session)) : row,
        )
    }),
  )
}

/** From the first on, and always the first. */
function fitting(rows: readonly Visible[], maxBytes: number): readonly Visible[] {
  let bytes = 0
  const end = rows.findIndex(({ row }, place) => {
    bytes += rowOf({ row }).message.body.length
    return place > 0 && bytes > maxBytes
  })
  return end < 0 ? rows : rows.slice(0, end)
}

function isBefore(earlier: Row, row: Row): boolean {
  return row.key !== undefined && earlier.key === row.key && earlier.queue === row.queue && bySequence(earlier, row) < 0
}

function bySequence(a: Row, b: Row): number {
  return (a.sequence as number) - (b.sequence as number)
}

function rowOf({ row }: Pick<Visible, 'row'>): QueueRow {
  return row as QueueRow
}

function nowOf({ database }: Session): number {
  return database.date().getTime()
}

function refuseLarge({ envelope, body }: MessageToQueue['message'], messageBytes = Number.POSITIVE_INFINITY): void {
  if (envelope.length + body.length > messageBytes)
    throw new SimError('constraint', `a message of ${body.length} bytes`)
}
