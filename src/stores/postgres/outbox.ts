import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { bytesArray, numberArray, textArray } from './cells.ts'
import type { ConnectionSource } from './connection.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { leasedIn } from './rows.ts'
import { prepared, statement } from './statement.ts'
import type { Tables } from './tables.ts'

export function postgresOutbox<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { outbox }: Tables,
): Outbox<Tx> {
  const held = `FROM unnest($1::bigint[], $2::bigint[]) AS held (seq, lease)
                WHERE known.seq = held.seq AND known.lease = held.lease`
  const append = prepared(
    'append',
    `INSERT INTO ${outbox} (id, envelope, body)
     SELECT id, envelope, body FROM unnest($1::text[], $2::bytea[], $3::bytea[])
       WITH ORDINALITY AS given (id, envelope, body, place) ORDER BY place`,
  )
  // MATERIALIZED, or the planner might lock more rows than it then updates.
  const lease = statement(
    `WITH due AS MATERIALIZED (
       SELECT seq FROM ${outbox} WHERE state = 'pending' AND next_at <= statement_timestamp()
       ORDER BY seq LIMIT $1::int FOR UPDATE SKIP LOCKED)
     UPDATE ${outbox} AS known
     SET next_at = statement_timestamp() + $2::float8 * interval '1 millisecond', lease = known.lease + 1
     FROM due WHERE known.seq = due.seq
     RETURNING known.seq, known.lease, id, attempts, encode(envelope, 'hex'), encode(body, 'hex')`,
  )
  const sent = statement(`DELETE FROM ${outbox} AS known ${held.replace('FROM', 'USING')}`)
  const failed = statement(
    `UPDATE ${outbox} AS known
     SET attempts = known.attempts + 1, lease = known.lease + 1, error = $3::text, state = $4::text,
         next_at = statement_timestamp() + $5::float8 * interval '1 millisecond' ${held}`,
  )
  const count = statement(`SELECT state, count(*) FROM ${outbox} GROUP BY state`)

  return {
    async append(tx, messages) {
      if (messages.length === 0) return
      await transactions
        .runner(tx)
        .run(append, [
          textArray(messages.map(({ id }) => id)),
          bytesArray(messages.map(({ message }) => message.envelope)),
          bytesArray(messages.map(({ message }) => message.body)),
        ])
    },
    async lease(limit, leaseMs) {
      const { rows } = await source.runAlone(lease, [String(limit), String(leaseMs)])
      return [...rows].sort((a, b) => Number(a[0]) - Number(b[0])).map(leasedIn)
    },
    async markSent(messages) {
      if (messages.length === 0) return 0
      const { count: removed } = await source.runAlone(sent, leaseArrays(messages))
      return removed
    },
    async markFailed(messages, { delayMs, error, dead }) {
      if (messages.length === 0) return
      const state = dead ? 'dead' : 'pending'
      await source.runAlone(failed, [...leaseArrays(messages), error, state, String(delayMs)])
    },
    async count() {
      const { rows } = await source.runAlone(count, [])
      const of = (state: string) => Number(rows.find((row) => row[0] === state)?.[1] ?? 0)
      return { pending: of('pending'), dead: of('dead') }
    },
  }
}

/** A lease is the row and how often it was leased, so that it holds only until the next one. */
function leaseArrays(messages: readonly LeasedMessage[]): [string, string] {
  const parts = messages.map(({ lease }) => lease.split('.'))
  return [numberArray(parts.map(([seq]) => seq)), numberArray(parts.map(([, lease]) => lease))]
}
