import type { Queue, QueueTicket } from '../../../contracts/index.ts'
import { takenByAnother } from '../../../errors/index.ts'
import { laneOf } from '../../sql/lane-of.ts'
import { partsOfTicket } from '../../sql/queue-ticket.ts'
import type { Connections, Runner } from '../connection.ts'
import { queuedIn } from '../rows.ts'
import { prepared, statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { swallowed } from '../transactions/swallowed.ts'
import { bytesArray, numberArray } from '../values-as-text.ts'

/** `listen` and `announce` are in queue-news.ts. */
export function postgresQueue<Tx>(
  connections: Pick<Connections<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { queue: table }: Tables,
): Queue<Tx> {
  const sent = '(extract(epoch FROM known.sent_at) * 1000000)::bigint'
  // A message without a delay must not wait for a clock that was ahead when it was stored.
  const atOnce = `'-infinity'::timestamptz`
  const later = (ms: string) => `statement_timestamp() + ${ms}::float8 * interval '1 millisecond'`
  const send = prepared(
    'send',
    `INSERT INTO ${table} (queue, visible_at, lane, envelope, body)
     SELECT $1::text, ${atOnce}, lane, envelope, body FROM unnest($2::bigint[], $3::bytea[], $4::bytea[])
       WITH ORDINALITY AS given (lane, envelope, body, place) ORDER BY place`,
  )
  // The first check skips messages behind a hidden one, so that a long row of them does not use up the limit. The second
  // skips messages behind one that another process is taking: that one was skipped, or has changed since.
  const take = statement(
    // Hidden messages and gaps in lanes are computed once for all rows. Computed for each row, a few keys with thousands of
    // messages would take seconds.
    `WITH hidden AS MATERIALIZED (
       SELECT lane, min(sequence) AS sequence FROM ${table}
       WHERE queue = $1::text AND lane IS NOT NULL AND visible_at > ${atOnce} AND visible_at > statement_timestamp()
       GROUP BY lane),
     due AS MATERIALIZED (
       SELECT visible.sequence, visible.lane, octet_length(visible.body) AS size FROM ${table} AS visible LEFT JOIN hidden ON hidden.lane = visible.lane
       WHERE queue = $1::text AND visible_at <= statement_timestamp()
         AND (hidden.sequence IS NULL OR visible.sequence < hidden.sequence)
       ORDER BY visible.sequence LIMIT $2::int FOR UPDATE OF visible SKIP LOCKED),
     lanes AS MATERIALIZED (SELECT lane, max(sequence) AS last FROM due WHERE lane IS NOT NULL GROUP BY lane),
     gaps AS MATERIALIZED (
       SELECT lanes.lane, min(earlier.sequence) AS sequence
       FROM lanes JOIN ${table} AS earlier
         ON earlier.queue = $1::text AND earlier.lane = lanes.lane AND earlier.sequence < lanes.last
       WHERE earlier.sequence NOT IN (SELECT sequence FROM due) GROUP BY lanes.lane),
     unbroken AS MATERIALIZED (
       SELECT due.sequence, sum(due.size) OVER (ORDER BY due.sequence) AS total, row_number() OVER (ORDER BY due.sequence) AS place
       FROM due LEFT JOIN gaps ON gaps.lane = due.lane WHERE gaps.sequence IS NULL OR due.sequence < gaps.sequence),
     chosen AS MATERIALIZED (SELECT sequence FROM unbroken WHERE total <= $4::bigint OR place = 1)
     UPDATE ${table} AS known SET visible_at = ${later('$3')}, deliveries = known.deliveries + 1
     FROM chosen WHERE known.sequence = chosen.sequence
     RETURNING known.sequence, ${sent}, known.deliveries, encode(envelope, 'hex'), encode(body, 'hex')`,
  )
  const remove = statement(
    `DELETE FROM ${table} AS known USING unnest($2::bigint[], $3::bigint[]) AS taken (sequence, sent)
     WHERE known.queue = $1::text AND known.sequence = taken.sequence AND ${sent} = taken.sent`,
  )
  const removeTaken = statement(`${remove.text} AND known.deliveries = $4::int`)
  const held = `FROM unnest($2::bigint[], $3::bigint[], $4::int[]) AS taken (sequence, sent, deliveries)
     WHERE known.queue = $1::text AND known.sequence = taken.sequence AND ${sent} = taken.sent AND known.deliveries = taken.deliveries`
  const hide = statement(
    `UPDATE ${table} AS known SET visible_at = CASE WHEN $5::float8 > 0 THEN ${later('$5')} ELSE ${atOnce} END,
       deliveries = known.deliveries - $6::int ${held}`,
  )
  const count = statement(
    `SELECT count(*) FILTER (WHERE visible_at <= statement_timestamp()),
            count(*) FILTER (WHERE visible_at > statement_timestamp()),
            extract(epoch FROM statement_timestamp() - min(sent_at)) * 1000
     FROM ${table} WHERE queue = $1::text`,
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

  return {
    async send(tx, queue, messages) {
      if (messages.length === 0) return
      const lanes = numberArray(messages.map(({ key }) => (key === undefined ? undefined : laneOf(key))))
      const envelopes = bytesArray(messages.map(({ message }) => message.envelope))
      const bodies = bytesArray(messages.map(({ message }) => message.body))
      const { count } = await runner(tx).run(send, [queue, lanes, envelopes, bodies])
      if (count !== messages.length)
        throw swallowed(`${messages.length - count} messages were not put into the queue ${queue}`)
    },
    async take(queue, { limit, visibilityMs, maxBytes = Number.MAX_SAFE_INTEGER }) {
      const bounds = [String(limit), String(visibilityMs), String(Math.floor(maxBytes))]
      const { rows } = await connections.runAlone(take, [queue, ...bounds])
      return [...rows].sort((a, b) => Number(a[0]) - Number(b[0])).map(queuedIn)
    },
    async remove(tx, queue, tickets, still) {
      if (tickets.length === 0) return
      const values = [queue, ...ticketArrays(tickets)]
      if (still === undefined) await runner(tx).run(remove, values)
      else {
        const { count } = await runner(tx).run(removeTaken, [...values, String(still.deliveries)])
        if (count < tickets.length) throw takenByAnother(queue)
      }
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
    async queues() {
      const { rows } = await connections.runAlone(names, [])
      return rows.map(([queue]) => String(queue))
    },
  }
}

function ticketArrays(tickets: readonly string[]): [sequences: string, sentAt: string] {
  const parts = tickets.map(partsOfTicket)
  return [numberArray(parts.map(([sequence]) => sequence)), numberArray(parts.map(([, sentAt]) => sentAt))]
}

function heldArrays(taken: readonly QueueTicket[]): string[] {
  return [...ticketArrays(taken.map(({ ticket }) => ticket)), numberArray(taken.map(({ deliveries }) => deliveries))]
}
