import type { Queue, QueuedMessage } from '../../contracts/index.ts'
import { bytesArray, bytesIn, type Cell, numberArray, textIn } from './cells.ts'
import type { ConnectionSource, Runner } from './connection.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { prepared, statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** Without `listen` and `announce`: they are in queue-news.ts. */
export function postgresQueue<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { queue: table }: Tables,
): Queue<Tx> {
  const later = (ms: string) => `statement_timestamp() + ${ms}::float8 * interval '1 millisecond'`
  const send = prepared(
    'send',
    `INSERT INTO ${table} (queue, envelope, body)
     SELECT $1::text, envelope, body FROM unnest($2::bytea[], $3::bytea[])
       WITH ORDINALITY AS given (envelope, body, place) ORDER BY place`,
  )
  const take = statement(
    `WITH due AS MATERIALIZED (
       SELECT seq FROM ${table} WHERE queue = $1::text AND visible_at <= statement_timestamp()
       ORDER BY seq LIMIT $2::int FOR UPDATE SKIP LOCKED)
     UPDATE ${table} AS known SET visible_at = ${later('$3')}, deliveries = known.deliveries + 1
     FROM due WHERE known.seq = due.seq
     RETURNING known.seq, known.deliveries, encode(envelope, 'hex'), encode(body, 'hex')`,
  )
  const remove = statement(`DELETE FROM ${table} WHERE queue = $1::text AND seq = ANY ($2::bigint[])`)
  const hide = statement(
    `UPDATE ${table} AS known SET visible_at = ${later('$4')}
     FROM unnest($2::bigint[], $3::int[]) AS taken (seq, deliveries)
     WHERE known.queue = $1::text AND known.seq = taken.seq AND known.deliveries = taken.deliveries`,
  )
  const count = statement(
    `SELECT count(*) FILTER (WHERE visible_at <= statement_timestamp()),
            count(*) FILTER (WHERE visible_at > statement_timestamp())
     FROM ${table} WHERE queue = $1::text`,
  )
  const runner = (tx: Tx | undefined): Pick<Runner, 'run'> =>
    tx === undefined ? { run: source.runAlone } : transactions.runner(tx)

  return {
    async send(tx, queue, messages) {
      if (messages.length === 0) return
      const envelopes = bytesArray(messages.map(({ envelope }) => envelope))
      await runner(tx).run(send, [queue, envelopes, bytesArray(messages.map(({ body }) => body))])
    },
    async take(queue, { limit, visibilityMs }) {
      const { rows } = await source.runAlone(take, [queue, String(limit), String(visibilityMs)])
      return [...rows].sort((a, b) => Number(a[0]) - Number(b[0])).map(queuedIn)
    },
    async remove(tx, queue, tickets) {
      if (tickets.length > 0) await runner(tx).run(remove, [queue, numberArray(tickets)])
    },
    async hide(queue, taken, visibilityMs) {
      if (taken.length === 0) return
      const tickets = numberArray(taken.map(({ ticket }) => ticket))
      const deliveries = numberArray(taken.map((each) => each.deliveries))
      await source.runAlone(hide, [queue, tickets, deliveries, String(visibilityMs)])
    },
    async count(queue) {
      const { rows } = await source.runAlone(count, [queue])
      return { ready: Number(rows[0]?.[0]), hidden: Number(rows[0]?.[1]) }
    },
  }
}

function queuedIn([seq, deliveries, envelope, body]: readonly Cell[]): QueuedMessage {
  return {
    ticket: textIn(seq),
    deliveries: Number(deliveries),
    message: { envelope: bytesIn(envelope), body: bytesIn(body) },
  }
}
