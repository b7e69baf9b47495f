import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { type Measured, quantile } from '../rounds.ts'
import { emptyTables, isAsExpected } from '../transfers/tables.ts'
import type { Workload } from '../transfers/workload.ts'
import { countingBroker, outgoingApp } from './app.ts'

export interface Setup {
  readonly pool: Pool
  readonly concurrency: number
  readonly workload: Workload
}

/** From the moment the messages wait in the broker until all are handled; with `isSent`, until what they publish is sent, too. */
export async function measureHandlers(
  { pool, concurrency, workload }: Setup,
  { publishes, isSent }: { readonly publishes: boolean; readonly isSent: boolean },
): Promise<Measured> {
  await emptyTables(pool)
  const { publisher, sentAt, untilSent } = countingBroker()
  const only = isSent ? undefined : (['consumer'] as const)
  const { app, source } = outgoingApp({ pool, concurrency, publisher, publishes, ...(only && { only }) })
  await app.start()
  const begunAt = performance.now()
  await source.deliverAll(workload.deliveries)
  if (isSent && publishes) await untilSent(workload.messages)
  const ms = performance.now() - begunAt
  await app.stop()
  const waiting = await queued(pool)
  const correct =
    (await isAsExpected(pool, workload, 'each-message-once')) &&
    waiting + sentAt.size === (publishes ? workload.messages : 0)
  return { deliveries: workload.messages, ms, correct }
}

/** What handlers have published is sent by a process that does nothing else. */
export async function measureRelay({ pool, concurrency, workload }: Setup): Promise<Measured> {
  await measureHandlers({ pool, concurrency, workload }, { publishes: true, isSent: false })
  const { publisher, sentAt, untilSent } = countingBroker()
  const { app } = outgoingApp({ pool, concurrency, publisher, publishes: false, only: ['relay'] })
  const begunAt = performance.now()
  await app.start()
  await untilSent(workload.messages)
  const ms = performance.now() - begunAt
  await app.stop()
  return { deliveries: workload.messages, ms, correct: sentAt.size === workload.messages && (await queued(pool)) === 0 }
}

export interface Latency {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly messages: number
}

/** Under light load: from the moment a process knows of the commit until the broker is called. */
export async function measureLatency({ pool, concurrency, workload }: Setup, perSecond: number): Promise<Latency> {
  await emptyTables(pool)
  const committedAt = new Map<string, number>()
  const { publisher, sentAt, untilSent } = countingBroker()
  const committed = (id: string): void => void committedAt.set(id, performance.now())
  const { app, source } = outgoingApp({ pool, concurrency, publisher, publishes: true, committed })
  await app.start()
  for (const delivery of workload.deliveries) {
    void source.deliverAll([delivery])
    await pause(1_000 / perSecond)
  }
  await untilSent(workload.messages)
  await app.stop()
  const all = [...committedAt].map(([id, at]) => Math.max(0, (sentAt.get(id) as number) - at))
  return { p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99), messages: all.length }
}

/** Transactions per second that a database sees of an app that has nothing to do. */
export async function measureIdle({ pool, concurrency }: Omit<Setup, 'workload'>, ms: number): Promise<number> {
  await emptyTables(pool)
  const { publisher } = countingBroker()
  const { app } = outgoingApp({ pool, concurrency, publisher, publishes: true })
  await app.start()
  await pause(2_000)
  const before = await transactions(pool)
  await pause(ms)
  const after = await transactions(pool)
  await app.stop()
  return ((after - before) / ms) * 1_000
}

async function transactions(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: string }>(
    'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
  )
  return Number(rows[0]?.count)
}

async function queued(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: string }>('SELECT count(*) FROM justonce_queue')
  return Number(rows[0]?.count)
}
