import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import type { ClaimAnswer, ClaimRequest } from '../../src/driver.ts'
import type { PostgresStore } from '../../src/stores/postgres/index.ts'

export const aDay = 86_400_000

const start = Date.now()

/** The same moment whenever it is asked for: every copy of a message was born when the first was. */
export function daysFromNow(days: number): Date {
  return new Date(start + days * aDay)
}

export function born(key: string, moment: Date | undefined): ClaimRequest {
  return { handler: 'tag-note', key, fingerprint: undefined, born: moment }
}

export function claim<Tx>(store: PostgresStore<Tx>, ...requests: readonly ClaimRequest[]): Promise<ClaimAnswer> {
  return store.transaction((tx) => store.inbox.claim(tx, requests))
}

/** `first`, `too old`, or the state of the record that was there: one word each. */
export function verdicts({ existing, tooOld }: ClaimAnswer): readonly string[] {
  return existing.map((record, place) => record?.state ?? (tooOld?.has(place) ? 'too old' : 'first'))
}

/** The tables of the days that are there, attached or not, oldest first. */
export async function partsOf(pool: pg.Pool, schema: string): Promise<string[]> {
  const text = `SELECT tablename AS name FROM pg_tables
    WHERE schemaname = $1 AND tablename ~ '^justonce_inbox_[0-9]' ORDER BY 1`
  return (await pool.query<{ name: string }>(text, [schema])).rows.map(({ name }) => name)
}

/** Until a statement with this word in it waits for a lock; resolves to its process id. */
export async function untilWaiting(pool: pg.Pool, word: string): Promise<number> {
  for (;;) {
    const { rows } = await pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND pid <> pg_backend_pid() AND strpos(query, $1) > 0`,
      [word],
    )
    if (rows[0] !== undefined) return rows[0].pid
    await pause(5)
  }
}
