import type { LeasedMessage, Outbox } from '../../contracts/index.ts'
import { laneOf } from '../sql/lane-of.ts'
import { bytesArray, numberArray, textArray } from './cells.ts'
import type { ConnectionSource } from './connection.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { deadIn, leasedIn } from './rows.ts'
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
    `INSERT INTO ${outbox} (id, lane, envelope, body)
     SELECT id, lane, envelope, body FROM unnest($1::text[], $2::bigint[], $3::bytea[], $4::bytea[])
       WITH ORDINALITY AS given (id, lane, envelope, body, place) ORDER BY place`,
  )
  // As the queue takes: the first look leaves out what stands behind one that waits, the second what stands behind one
  // that a rival is just leasing. MATERIALIZED, or the planner might lock more rows than it then updates.
  const lease = statement(
    `WITH waiting AS MATERIALIZED (
       SELECT lane, min(seq) AS seq FROM ${outbox}
       WHERE state = 'pending' AND lane IS NOT NULL AND lease > 0 AND next_at > statement_timestamp() GROUP BY lane),
     due AS MATERIALIZED (
       SELECT ready.seq, ready.lane, octet_length(envelope) + octet_length(body) AS bytes FROM ${outbox} AS ready LEFT JOIN waiting ON waiting.lane = ready.lane
       WHERE state = 'pending' AND next_at <= statement_timestamp() AND (waiting.seq IS NULL OR ready.seq < waiting.seq)
       ORDER BY ready.seq LIMIT $1::int FOR UPDATE OF ready SKIP LOCKED),
     lanes AS MATERIALIZED (SELECT lane, max(seq) AS last FROM due WHERE lane IS NOT NULL GROUP BY lane),
     gaps AS MATERIALIZED (
       SELECT lanes.lane, min(earlier.seq) AS seq
       FROM lanes JOIN ${outbox} AS earlier
         ON earlier.state = 'pending' AND earlier.lane = lanes.lane AND earlier.seq < lanes.last
       WHERE earlier.seq NOT IN (SELECT seq FROM due) GROUP BY lanes.lane),
     unbroken AS MATERIALIZED (
       SELECT due.seq, sum(bytes) OVER (ORDER BY due.seq) - bytes AS bytes_before
       FROM due LEFT JOIN gaps ON gaps.lane = due.lane WHERE gaps.seq IS NULL OR due.seq < gaps.seq),
     chosen AS MATERIALIZED (SELECT seq FROM unbroken WHERE bytes_before < $3::float8)
     UPDATE ${outbox} AS known
     SET next_at = statement_timestamp() + $2::float8 * interval '1 millisecond', lease = known.lease + 1
     FROM chosen WHERE known.seq = chosen.seq
     RETURNING known.seq, known.lease, id, attempts, encode(envelope, 'hex'), encode(body, 'hex')`,
  )
  const sent = statement(`DELETE FROM ${outbox} AS known ${held.replace('FROM', 'USING')}`)
  const failed = statement(
    `UPDATE ${outbox} AS known
     SET attempts = known.attempts + 1, lease = known.lease + 1, error = $3::text, state = $4::text,
         next_at = statement_timestamp() + $5::float8 * interval '1 millisecond' ${held}`,
  )
  const release = statement(
    `UPDATE ${outbox} AS known SET lease = known.lease + 1, next_at = statement_timestamp() ${held}`,
  )
  const dead = statement(
    `SELECT id, attempts, error, encode(envelope, 'hex'), encode(body, 'hex') FROM ${outbox}
     WHERE state = 'dead' ORDER BY seq LIMIT $1::int`,
  )
  const revive = statement(
    `UPDATE ${outbox} SET state = 'pending', attempts = 0, lease = lease + 1, next_at = statement_timestamp()
     WHERE state = 'dead' AND ($1::text[] IS NULL OR id = ANY ($1::text[]))`,
  )
  const count = statement(`SELECT state, count(*) FROM ${outbox} GROUP BY state`)

  return {
    async append(tx, messages) {
      if (messages.length === 0) return
      await transactions
        .runner(tx)
        .run(append, [
          textArray(messages.map(({ id }) => id)),
          numberArray(messages.map(({ key }) => (key === undefined ? undefined : laneOf(key)))),
          bytesArray(messages.map(({ message }) => message.envelope)),
          bytesArray(messages.map(({ message }) => message.body)),
        ])
    },
    async lease(limit, leaseMs, maxBytes = Number.POSITIVE_INFINITY) {
      const { rows } = await source.runAlone(lease, [String(limit), String(leaseMs), String(maxBytes)])
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
    async release(messages) {
      if (messages.length > 0) await source.runAlone(release, leaseArrays(messages))
    },
    async listDead(limit) {
      const { rows } = await source.runAlone(dead, [String(limit)])
      return rows.map(deadIn)
    },
    async retryDead(ids) {
      const { count: revived } = await source.runAlone(revive, [ids === undefined ? null : textArray(ids)])
      return revived
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
