import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Measured } from '../rounds.ts'
import { type RedriveSetup, startWithDeadLetters } from './redrive.ts'

/** The deliveries are letters that were given another life, for that is what the pace is about. */
export interface Paced extends Measured {
  /** In a time as long, from the first that was processed on. */
  readonly processed: number
}

/**
 * How many letters are released in about the given time, and how many processed. They come in bursts, one for each look
 * of the driver: so the time is that of a whole number of bursts, from the beginning of one to the beginning of another.
 */
export async function measurePaced(setup: RedriveSetup, perSecond: number, leastMs: number): Promise<Paced> {
  const { pool, workload } = setup
  const app = await startWithDeadLetters(setup)
  const places = await placesOf(pool)
  const { id, selected } = await app.letters.redrive('all', { by: 'bench', perSecond })
  const releasedOf = () => countReleased(pool, id, places)
  const first = await untilMore(releasedOf, 0)
  let last = first
  let released = 0
  while (last.at - first.at < leastMs && last.count < selected) {
    released = last.count
    last = await untilMore(releasedOf, released)
  }
  const ms = last.at - first.at
  await app.untilProcessed(1)
  const endsAt = (app.processedAt[0] as number) + ms
  while (performance.now() < endsAt) await sleep(endsAt - performance.now())
  const processed = app.processedAt.filter((at) => at < endsAt).length
  await app.letters.stopRedrive(id, { by: 'bench' })
  await app.stop()
  const correct = selected === workload.messages && (await isSplit(pool, app.processedAt.length, selected))
  return { deliveries: released, ms, correct, processed }
}

interface Places {
  readonly first: number
  readonly end: number
}

async function placesOf(pool: Pool): Promise<Places> {
  const { rows } = await pool.query('SELECT min(sequence) AS first, max(sequence) + 1 AS end FROM justonce_parked')
  return { first: Number(rows[0].first), end: Number(rows[0].end) }
}

/** They are released in their order, so the first that is not tells how many are; looking for it costs next to nothing. */
async function countReleased(pool: Pool, redrive: string, { first, end }: Places): Promise<number> {
  const { rows } = await pool.query(
    'SELECT sequence FROM justonce_parked WHERE redrive = $1 AND NOT released ORDER BY sequence LIMIT 1',
    [redrive],
  )
  return Number(rows[0]?.sequence ?? end) - first
}

async function untilMore(countOf: () => Promise<number>, known: number) {
  for (;;) {
    const count = await countOf()
    if (count > known) return { count, at: performance.now() }
    await sleep(5)
  }
}

/** What was processed is in the ledger, once, and all the rest is parked. */
async function isSplit(pool: Pool, processed: number, selected: number): Promise<boolean> {
  const { rows } = await pool.query<Record<'entries' | 'transfers' | 'parked', string>>(`
    SELECT count(*) AS entries, count(DISTINCT transfer) AS transfers,
      (SELECT count(*) FROM justonce_parked) AS parked
    FROM ledger`)
  const [entries, transfers, parked] = [rows[0]?.entries, rows[0]?.transfers, rows[0]?.parked].map(Number)
  return entries === processed && transfers === processed && parked === selected - processed
}
