import type { Pool } from 'pg'
import { packMessage } from '../../src/encoding/packed-message.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { transferType, type Workload } from '../transfers/workload.ts'
import { handlerName } from './app.ts'

const columns = `handler, key, message_id, type, source, state, reason, shape, errors, attempts, step, independent,
  next_at, envelope, body`

const history = `'[{"at":"2026-01-02T03:04:05.678Z","message":"The ledger is not to be had just now."}]'`

export async function installTables(pool: Pool): Promise<void> {
  await postgresStore({ pool }).schema.install()
}

/**
 * So many parked messages that nobody is going to touch: every other one waits for a time far away, the others are dead
 * letters. They have no records, so that what is measured is the parked table and not a larger inbox.
 */
export async function fillParked(pool: Pool, count: number): Promise<void> {
  await pool.query(
    `INSERT INTO justonce_parked (${columns})
     SELECT $2, id, id, $3, 'transfers', state, 'HANDLER_FAILED', 'The ledger is not to be had, case ' || n % 50,
            ${history}, 1 + n % 5, 0, false, now() + interval '30 days' + n * interval '1 second',
            convert_to(json_build_object('id', id, 'type', $3::text, 'source', 'transfers', 'headers', '[]'::json)::text, 'UTF8'),
            convert_to(json_build_object('account', n % 1000, 'amount', 1 + n % 1000)::text, 'UTF8')
     FROM (SELECT n, md5(n::text)::uuid::text AS id, CASE n % 2 WHEN 0 THEN 'waiting' ELSE 'dead' END AS state
           FROM generate_series(1, $1::int) AS n) AS made`,
    [count, handlerName, transferType],
  )
  await pool.query('VACUUM (ANALYZE) justonce_parked')
  await pool.query('CHECKPOINT')
}

/** Makes a dead letter of every message, with the record that says so, and removes what an earlier round has left. */
export async function fillDeadLetters(pool: Pool, { deliveries }: Workload): Promise<void> {
  await pool.query('TRUNCATE justonce_parked, justonce_facts')
  for (let from = 0; from < deliveries.length; from += 10_000) {
    const some = deliveries.slice(from, from + 10_000)
    const ids = some.map(({ id }) => id)
    const packed = some.map((message) => packMessage(message))
    await pool.query(
      `INSERT INTO justonce_parked (${columns})
       SELECT $1, id, id, $2, 'transfers', 'dead', 'HANDLER_FAILED', 'The ledger is not to be had.', ${history}, 5, 0,
              false, now(), envelope, body
       FROM unnest($3::text[], $4::bytea[], $5::bytea[]) AS given (id, envelope, body)`,
      [handlerName, transferType, ids, packed.map(({ envelope }) => envelope), packed.map(({ body }) => body)],
    )
    await pool.query(
      `INSERT INTO justonce_inbox (handler, key, state) SELECT $1, id, 'p' FROM unnest($2::text[]) AS given (id)`,
      [handlerName, ids],
    )
  }
  await pool.query('VACUUM (ANALYZE) justonce_parked, justonce_inbox')
  await pool.query('CHECKPOINT')
}
