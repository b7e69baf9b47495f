import { longestHiddenMs } from '../../../clock/index.ts'
import type { Queue, QueueTicket } from '../../../contracts/index.ts'
import { takenByAnother } from '../../../errors/index.ts'
import { laneOf } from '../../sql/lane-of.ts'
import { partsOfTicket, sortTickets } from '../../sql/queue-ticket.ts'
import { listedRows } from '../../sql/rows.ts'
import type { Call, Connections, Runner } from '../connection.ts'
import { dialect } from '../dialect.ts'
import { listedIn, queuedIn } from '../rows.ts'
import { prepared, type Statement, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { failIfGone, failIfMissing, swallowed } from '../transactions/swallowed.ts'
import { bytesArray, type Cell, numberArray } from '../values-as-text.ts'
import { atOnce, eachOf, isGiven, later, sent, sentOf } from './queue-parts.ts'
import { isBlocked, isUntaken, takeStatement } from './take-statement.ts'

/** How many messages at the head of a queue are looked at to learn which keys wait behind a hidden message: per message taken. */
const headPerTaken = 10
const leastHead = 100

/** `listen` and `announce` are in queue-news.ts. */
export function postgresQueue<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { queue: table }: Tables,
): Queue<Tx> {
  const send = prepared(
    'send',
    `WITH put AS (
       INSERT INTO ${table} (queue, visible_at, lane, envelope, body)
       SELECT $1::text, ${atOnce}, lane, envelope, body FROM unnest($2::bigint[], $3::bytea[], $4::bytea[])
         WITH ORDINALITY AS given (lane, envelope, body, place) ORDER BY place RETURNING 1)
     ${failIfMissing('cardinality($3::bytea[]) - (SELECT count(*) FROM put)', 'messages were not put into their queue')}`,
  )
  const take = takeStatement(table)
  const tickets = 'unnest((SELECT $2::bigint[]), (SELECT $3::bigint[]))'
  const remove = statement(
    `DELETE FROM ${table} AS known USING ${eachOf('sequence, sent', tickets)}
     WHERE ${sent} = given.sent AND ${isGiven}`,
  )
  const removeStrictly = statement(
    `WITH removed AS (${remove.text} RETURNING 1)
     ${failIfGone('cardinality($2::bigint[]) - (SELECT count(*) FROM removed)')}`,
  )
  const expect = statement(
    `WITH found AS (
       SELECT 1 FROM ${table} AS known, ${eachOf('sequence, sent', tickets)} WHERE ${sent} = given.sent AND ${isGiven})
     ${failIfGone('cardinality($2::bigint[]) - (SELECT count(*) FROM found)')}`,
  )
  const removeAndCount = statement(`WITH removed AS (${remove.text} RETURNING 1) SELECT count(*) FROM removed`)
  const areGone = statement(
    `WITH found AS (
       SELECT 1 FROM ${table} AS known, ${eachOf('sequence, sent', tickets)} WHERE ${sent} = given.sent AND ${isGiven})
     ${failIfMissing('(SELECT count(*) FROM found)', 'messages were not removed from their queue')}`,
  )
  const removeTaken = statement(`${remove.text} AND known.deliveries = $4::int`)
  const held = 'unnest((SELECT $2::bigint[]), (SELECT $3::bigint[]), (SELECT $4::int[]))'
  const hide = statement(
    `UPDATE ${table} AS known SET visible_at = CASE WHEN $5::float8 > 0 THEN ${later('$5')} ELSE ${atOnce} END,
       deliveries = known.deliveries - $6::int
     FROM ${eachOf('sequence, sent, deliveries', held)}
     WHERE ${sent} = given.sent AND known.deliveries = given.deliveries AND ${isGiven}`,
  )
  const count = statement(
    `SELECT count(*) FILTER (WHERE visible_at <= statement_timestamp()),
            count(*) FILTER (WHERE visible_at > statement_timestamp()),
            extract(epoch FROM statement_timestamp() - min(sent_at)) * 1000
     FROM ${table} WHERE queue = $1::text`,
  )
  const rows = `SELECT * FROM ${table} WHERE queue = $1::text AND sequence > $2::bigint ORDER BY sequence LIMIT (SELECT $3::int)`
  const list = statement(
    `${listedRows(dialect, rows, sentOf('listed'))} WHERE bytes_before < $4::bigint ORDER BY sequence`,
  )
  // Steps from one name to the next in the index, because a plain DISTINCT would read every message.
  const names = statement(
    `WITH RECURSIVE names AS (
       SELECT min(queue) AS queue FROM ${table}
       UNION ALL
       SELECT (SELECT min(next.queue) FROM ${table} AS next WHERE next.queue > names.queue) FROM names WHERE queue IS NOT NULL)
     SELECT queue FROM names WHERE queue IS NOT NULL`,
  )
  const runner = (tx: Tx | undefined): Pick<Runner, 'run'> =>
    tx === undefined ? { run: connections.runAlone } : transactions.runner(tx)
  const write = async (tx: Tx | undefined, statement: Statement, values: readonly Cell[]): Promise<void> => {
    if (tx === undefined) await connections.runAlone(statement, values)
    else await transactions.write(tx, [{ statement, values }])
  }

  /** What another process has removed is gone. What is still there would be taken, and sent, again and again. */
  const removeAlone = async (queue: string, given: readonly string[]): Promise<void> => {
    if (given.length === 0) return
    const values = [queue, ...ticketArrays(given)]
    const { rows } = await connections.runAlone(removeAndCount, values)
    if (Number(rows[0]?.[0]) < given.length) await connections.runAlone(areGone, values)
  }

  return {
    async send(tx, queue, messages) {
      if (messages.length === 0) return
      const lanes = numberArray(messages.map(({ key }) => (key === undefined ? undefined : laneOf(key))))
      const envelopes = bytesArray(messages.map(({ message }) => message.envelope))
      const bodies = bytesArray(messages.map(({ message }) => message.body))
      await write(tx, send, [queue, lanes, envelopes, bodies])
    },
    async take(queue, { limit, visibilityMs, maxBytes = Number.MAX_SAFE_INTEGER }) {
      const bounds = [String(limit), String(visibilityMs), String(Math.floor(maxBytes))]
      const takeWithin = async (head: string | null) =>
        (
          await connections.runAlone(take, [queue, ...bounds, head, String(longestHiddenMs(visibilityMs))])
        ).rows.toSorted((a, b) => Number(a[0]) - Number(b[0]))
      const rows = await takeWithin(String(Math.max(leastHead, limit * headPerTaken)))
      const found = isBlocked(rows) ? await takeWithin(null) : rows
      if (isUntaken(found)) throw swallowed('messages of a queue were not taken')
      return found.filter(([sequence]) => sequence !== null).map(queuedIn)
    },
    async remove(tx, queue, tickets, still) {
      if (still !== undefined && 'deliveries' in still) {
        if (tickets.length === 0) return
        const values = [queue, ...ticketArrays(tickets), String(still.deliveries)]
        const { count } = await runner(tx).run(removeTaken, values)
        if (count < tickets.length) throw takenByAnother(queue)
        return
      }
      const { loose, strict, kept } = sortTickets(tickets, still?.present)
      const calls = [call(expect, queue, kept), call(remove, queue, loose), call(removeStrictly, queue, strict)].flat()
      if (tx !== undefined) await transactions.write(tx, calls)
      else await removeAlone(queue, loose)
    },
    async hide(queue, taken, visibilityMs, { untaken = false } = {}) {
      if (taken.length === 0) return
      await connections.runAlone(hide, [queue, ...heldArrays(taken), String(visibilityMs), untaken ? '1' : '0'])
    },
    async count(queue) {
      const { rows } = await connections.runAlone(count, [queue])
      const [ready, hidden, oldest] = rows[0] ?? []
      return { ready: Number(ready), hidden: Number(hidden), oldestMs: oldest === null ? undefined : Number(oldest) }
    },
    async list(queue, { limit, after = '0', maxBytes = Number.MAX_SAFE_INTEGER }) {
      const page = [partsOfTicket(after)[0], String(limit), String(Math.floor(maxBytes))]
      return (await connections.runAlone(list, [queue, ...page])).rows.map(listedIn)
    },
    async queues() {
      const { rows } = await connections.runAlone(names, [])
      return rows.map(([queue]) => String(queue))
    },
  }
}

function call(statement: Statement, queue: string, tickets: readonly string[]): Call[] {
  return tickets.length === 0 ? [] : [{ statement, values: [queue, ...ticketArrays(tickets)] }]
}

function ticketArrays(tickets: readonly string[]): [sequences: string, sentAt: string] {
  const parts = tickets.map(partsOfTicket)
  return [numberArray(parts.map(([sequence]) => sequence)), numberArray(parts.map(([, sentAt]) => sentAt))]
}

function heldArrays(taken: readonly QueueTicket[]): string[] {
  return [...ticketArrays(taken.map(({ ticket }) => ticket)), numberArray(taken.map(({ deliveries }) => deliveries))]
}
