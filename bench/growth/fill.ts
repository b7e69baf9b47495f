import type { Pool } from 'pg'

const dayMs = 86_400_000

/** Text of a UUIDv7 that was made at `ms`, as SQL. */
const uuidv7 = (ms: string) => `overlay(overlay(
  gen_random_uuid()::text placing '7' from 15) placing
  substr(lpad(to_hex(${ms}), 12, '0'), 1, 8) || '-' || substr(lpad(to_hex(${ms}), 12, '0'), 9) from 1)`

const fingerprint = `decode(md5(n::text), 'hex')`

/** Records of messages that were made at even intervals, from one day to another. */
export async function fillBorn(pool: Pool, records: number, from: Date, until: Date): Promise<void> {
  const stepMs = (until.getTime() - from.getTime()) / records
  await inSteps(records, (first, last) =>
    pool.query(
      `SET LOCAL synchronous_commit = off;
       INSERT INTO justonce_inbox (handler, key, fingerprint, born)
       SELECT 'tag-note', ${uuidv7('ms')}, ${fingerprint}, to_timestamp(ms / 1000.0)
       FROM generate_series(${first}, ${last}) AS n,
         LATERAL (SELECT ${from.getTime()} + floor(n * ${stepMs}::float8)::bigint) AS given (ms)`,
    ),
  )
}

export async function fillTimeless(pool: Pool, records: number): Promise<void> {
  await inSteps(records, (first, last) =>
    pool.query(
      `SET LOCAL synchronous_commit = off;
       INSERT INTO justonce_inbox (handler, key, fingerprint)
       SELECT 'tag-note', gen_random_uuid()::text, ${fingerprint} FROM generate_series(${first}, ${last}) AS n`,
    ),
  )
}

async function inSteps(records: number, fill: (first: number, last: number) => Promise<unknown>): Promise<void> {
  const step = 250_000
  for (let first = 0; first < records; first += step) await fill(first, Math.min(first + step, records) - 1)
}

export function daysAgo(days: number): Date {
  return new Date(Math.floor(Date.now() / dayMs - days) * dayMs)
}

/** As autovacuum leaves a table sooner or later. */
export async function settle(pool: Pool): Promise<void> {
  await pool.query('VACUUM (ANALYZE)')
  await pool.query('CHECKPOINT')
}
