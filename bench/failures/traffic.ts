import type { Pool } from 'pg'
import type { Measured } from '../rounds.ts'
import { emptyTables, isAsExpected } from '../transfers/tables.ts'
import { makeWorkload, type Workload } from '../transfers/workload.ts'
import { type AppSetup, startApp } from './app.ts'

export interface TrafficSetup extends AppSetup {
  readonly workload: Workload
  /** Rows that are parked before and have to be there afterwards, untouched. */
  readonly parked: number
}

export interface Traffic extends Measured {
  readonly parkedOnTheWay: number
  readonly undone: number
}

/** Each message comes once, so that deliveries and messages are the same number. */
export function freshMessages(messages: number, seed: number): Workload {
  return makeWorkload({ messages, seed, duplicateShare: 0 })
}

/** Every so manyth message; the same ones each time. */
export function failingAmong({ deliveries }: Workload, oneIn: number): ReadonlySet<string> {
  return new Set(deliveries.filter((_, place) => place % oneIn === oneIn >> 1).map(({ id }) => id as string))
}

/** From the moment the messages wait in the broker until each of them, retried ones included, has been processed. */
export async function measureTraffic(setup: TrafficSetup): Promise<Traffic> {
  const { pool, workload } = setup
  await emptyTables(pool)
  if (setup.parked === 0) await pool.query('TRUNCATE justonce_parked')
  const app = await startApp(setup)
  const begunAt = performance.now()
  await Promise.all([app.deliver(workload.deliveries), app.untilProcessed(workload.messages)])
  const ms = performance.now() - begunAt
  await app.stop()
  const { parked, undone } = app.seen
  return {
    deliveries: workload.messages,
    ms,
    parkedOnTheWay: parked,
    undone,
    correct: parked === (setup.failing?.size ?? 0) && (await isAllDone(setup)),
  }
}

export async function isAllDone({ pool, workload, parked }: Pick<TrafficSetup, 'pool' | 'workload' | 'parked'>) {
  const done = await isAsExpected(pool, workload, 'each-message-once')
  return done && (await countOf(pool, 'justonce_parked')) === parked && (await recordsAreDone(pool, workload))
}

async function recordsAreDone(pool: Pool, { messages }: Workload): Promise<boolean> {
  return (await countOf(pool, `justonce_inbox WHERE state = 'p'`)) === messages
}

async function countOf(pool: Pool, what: string): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(`SELECT count(*) FROM ${what}`)
  return Number(rows[0]?.count)
}
