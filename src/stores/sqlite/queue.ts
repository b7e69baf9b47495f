import { longestHiddenMs } from '../../clock/index.ts'
import type { MessageToQueue, Queue, QueuedMessage } from '../../contracts/index.ts'
import { goneFrom, takenByAnother } from '../../errors/index.ts'
import { laneOf } from '../sql/lane-of.ts'
import { partsOfTicket, queueTicket, sortTickets } from '../sql/queue-ticket.ts'
import { listedRows } from '../sql/rows.ts'
import { dialect, listedIn } from './dialect.ts'
import type { QueueWatch } from './queue-watch.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase, SqliteValue } from './sqlite-database.ts'
import { bytes, now, type Statements } from './statements.ts'
import { swallowed } from './swallowed.ts'
import { statementsIn, type Transactions } from './transactions.ts'

const insertMessage = `INSERT INTO main.justonce_queue (queue, lane, deliveries, visible_at, sent_at, envelope, body)
  VALUES (?, ?, 0, 0, ${now}, ?, ?)`
const visible = `SELECT sequence, length(body) AS size FROM main.justonce_queue AS next WHERE queue = ? AND visible_at <= ${now}
  AND (lane IS NULL OR NOT EXISTS (SELECT 1 FROM main.justonce_queue AS earlier WHERE earlier.queue = next.queue
    AND earlier.lane = next.lane AND earlier.sequence < next.sequence AND earlier.visible_at > ${now}))
  ORDER BY sequence LIMIT ?`
// As many as fit, from the oldest on, so that the messages of each lane are consecutive.
const fitting = `SELECT sequence FROM (SELECT sequence, sum(size) OVER (ORDER BY sequence) AS total,
  row_number() OVER (ORDER BY sequence) AS place FROM (${visible})) WHERE total <= ? OR place = 1`
const takeVisible = `UPDATE main.justonce_queue SET deliveries = deliveries + 1, visible_at = ${now} + ?
  WHERE sequence IN (${fitting}) RETURNING sequence, sent_at, envelope, body, deliveries`
// Only the oldest is asked, so that it costs one lookup: in the end, any that stays hidden is the oldest.
const isOldestStuck = `SELECT 1 FROM (SELECT visible_at FROM main.justonce_queue WHERE queue = ? ORDER BY sequence LIMIT 1)
  WHERE visible_at > ${now} + ?`
const shortenStuck = `UPDATE main.justonce_queue SET visible_at = ${now} + ? WHERE queue = ? AND visible_at > ${now} + ?`
const deleteMessage = `DELETE FROM main.justonce_queue WHERE queue = ? AND sequence = ? AND sent_at = ?`
const deleteTaken = `${deleteMessage} AND deliveries = ?`
const isQueued = `SELECT 1 FROM main.justonce_queue WHERE queue = ? AND sequence = ? AND sent_at = ?`
const isTaken = `${isQueued} AND deliveries = ?`
const hideTaken = `UPDATE main.justonce_queue SET visible_at = iif(? > 0, ${now} + ?, 0), deliveries = deliveries - ?
  WHERE queue = ? AND sequence = ? AND sent_at = ? AND deliveries = ?`
const countVisible = `SELECT count(*) AS total, count(*) FILTER (WHERE visible_at <= ${now}) AS ready,
  ${now} - min(sent_at) AS oldest FROM main.justonce_queue WHERE queue = ?`
const listPage = `${listedRows(
  dialect,
  'SELECT * FROM main.justonce_queue WHERE queue = ? AND sequence > ? ORDER BY sequence LIMIT ?',
  'sent_at',
)} WHERE bytes_before < ? ORDER BY sequence`
// Steps from one name to the next, because a plain DISTINCT would read every message.
const queueNames = `WITH RECURSIVE names (queue) AS (
    SELECT min(queue) FROM main.justonce_queue
    UNION ALL SELECT (SELECT min(queue) FROM main.justonce_queue WHERE queue > names.queue) FROM names WHERE queue IS NOT NULL)
  SELECT queue FROM names WHERE queue IS NOT NULL`

interface QueueRow {
  readonly sequence: number
  readonly sent_at: number
  readonly envelope: Uint8Array
  readonly body: Uint8Array
  readonly deliveries: number
}

interface CountRow {
  readonly total: number
  readonly ready: number
  readonly oldest: number | null
}

export function sqliteQueue<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
  watch: QueueWatch,
): Queue<Database> {
  const inside = async (tx: Database | undefined, work: (statements: Statements) => void): Promise<void> =>
    tx === undefined ? transactions.short(work) : work(statementsIn(tx))
  return {
    send: (tx, queue, messages) => inside(tx, (statements) => insertAll(statements, queue, messages)),
    async take(queue, { limit, visibilityMs, maxBytes = Number.MAX_SAFE_INTEGER }) {
      const longestMs = longestHiddenMs(visibilityMs)
      // Mostly there is nothing to take, and then nobody should wait for the write lock.
      const { isStuck, isReady } = await reader.read((statements) => ({
        isStuck: statements.get(isOldestStuck, queue, longestMs) !== undefined,
        isReady: statements.get(visible, queue, 1) !== undefined,
      }))
      if (isStuck) await transactions.short((statements) => statements.run(shortenStuck, longestMs, queue, longestMs))
      if (!isReady) return []
      const rows = await transactions.short((statements) => {
        const takeNow = () =>
          statements.all<QueueRow>(takeVisible, Math.ceil(visibilityMs), queue, limit, Math.floor(maxBytes))
        const taken = takeNow()
        if (taken.length > 0 || limit < 1 || statements.get(visible, queue, 1) === undefined) return taken
        // It may have become visible this moment. Nobody else can take it meanwhile.
        const again = takeNow()
        if (again.length === 0) throw swallowed('a message was not taken', 'justonce_queue')
        return again
      })
      return rows.sort((a, b) => a.sequence - b.sequence).map(queuedMessage)
    },
    remove: (tx, queue, tickets, still) =>
      inside(tx, (statements) => {
        if (still !== undefined && 'deliveries' in still) {
          const { deliveries } = still
          for (const ticket of tickets) {
            const taken = [queue, ...numbersOf(ticket), deliveries]
            if (statements.run(deleteTaken, ...taken) > 0) continue
            throw statements.get(isTaken, ...taken) === undefined ? takenByAnother(queue) : notRemoved()
          }
          return
        }
        const isRemoved = (ticket: string): boolean => {
          if (statements.run(deleteMessage, queue, ...numbersOf(ticket)) > 0) return true
          if (statements.get(isQueued, queue, ...numbersOf(ticket)) !== undefined) throw notRemoved()
          return false
        }
        const { loose, strict, kept } = sortTickets(tickets, still?.present)
        for (const ticket of kept)
          if (statements.get(isQueued, queue, ...numbersOf(ticket)) === undefined) throw goneFrom(queue)
        loose.forEach(isRemoved)
        if (!strict.every(isRemoved)) throw goneFrom(queue)
      }),
    hide: (queue, taken, visibilityMs, { untaken = false } = {}) =>
      transactions.short((statements) => {
        const ms = Math.ceil(visibilityMs)
        for (const { ticket, deliveries } of taken)
          statements.run(hideTaken, ms, ms, untaken ? 1 : 0, queue, ...numbersOf(ticket), deliveries)
      }),
    async count(queue) {
      const row = await reader.read((statements) => statements.get<CountRow>(countVisible, queue))
      const { total, ready, oldest } = row as CountRow
      return { ready, hidden: total - ready, oldestMs: oldest ?? undefined }
    },
    async list(queue, { limit, after = '0', maxBytes = Number.MAX_SAFE_INTEGER }) {
      const page = [queue, numbersOf(after)[0] as number, limit, maxBytes] as const
      const rows = await reader.read((statements) => statements.all<Record<string, SqliteValue>>(listPage, ...page))
      return rows.map((row) => listedIn(Object.values(row)))
    },
    queues: () => reader.read((statements) => statements.all<{ queue: string }>(queueNames).map(({ queue }) => queue)),
    listen: (queue, wake) => watch.listen(queue, wake),
    // Listeners detect commits of other connections without an announcement.
    announce: async (queue, tx) => (tx === undefined ? watch.announce(queue) : undefined),
  }
}

function insertAll(statements: Statements, queue: string, messages: readonly MessageToQueue[]): void {
  for (const { message, key } of messages)
    if (
      statements.run(insertMessage, queue, key === undefined ? null : laneOf(key), message.envelope, message.body) === 0
    )
      throw swallowed('a message was not put into its queue', 'justonce_queue')
}

function notRemoved(): Error {
  return swallowed('a message was not removed from its queue', 'justonce_queue')
}

function queuedMessage({ sequence, sent_at, envelope, body, deliveries }: QueueRow): QueuedMessage {
  const message = { envelope: bytes(envelope), body: bytes(body) }
  return { ticket: queueTicket(sequence, sent_at), deliveries, message }
}

function numbersOf(ticket: string): number[] {
  return partsOfTicket(ticket).map(Number)
}
