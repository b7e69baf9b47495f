import type { Pool } from 'pg'
import { countCpu } from '../cpu.ts'
import type { Measured } from '../rounds.ts'
import { type ConsumerName, expectedOf, startConsumer } from './consumers.ts'
import { type Prefetched, prefetched } from './prefetched.ts'
import { emptyTables, isAsExpected } from './tables.ts'
import type { Workload } from './workload.ts'

export interface Setup {
  readonly pool: Pool
  readonly workload: Workload
  /** Default: what the app decides, or one for each connection of the pool. */
  readonly concurrency?: number
  /** So many messages are handed over before one of them is settled. Default: as many as the consumer wants. */
  readonly inFlight?: number
}

/** Messages that wait in the broker when the clock starts, until the last one is settled. */
export async function measure(name: ConsumerName, setup: Setup): Promise<Measured> {
  await emptyTables(setup.pool)
  return await consumeAll(name, setup)
}

/** Everything has been processed before; the one who meets it again remembers nothing of that. */
export async function measureDuplicates(setup: Setup): Promise<Measured> {
  await measure('batch', setup)
  return await consumeAll('handlers', setup)
}

/** Everything has been processed before, by the same app and a moment ago. */
export async function measureRemembered(setup: Setup): Promise<Measured> {
  await emptyTables(setup.pool)
  const source = prefetched()
  const consumer = await startConsumer('handlers', source, setup)
  await timeUntilDone(source, setup.workload)
  const ms = await timeUntilDone(source, setup.workload)
  await consumer.stop()
  return await result('handlers', setup, ms)
}

async function consumeAll(name: ConsumerName, setup: Setup): Promise<Measured> {
  const source = prefetched(setup)
  const consumer = await startConsumer(name, source, setup)
  const cpuSince = await countCpu(setup.pool)
  const ms = await timeUntilDone(source, setup.workload)
  const cpu = cpuSince()
  await consumer.stop()
  return { ...(await result(name, setup, ms)), cpu }
}

async function timeUntilDone(source: Prefetched, { deliveries }: Workload): Promise<number> {
  const begunAt = performance.now()
  await source.deliverAll(deliveries)
  return performance.now() - begunAt
}

async function result(name: ConsumerName, { pool, workload }: Setup, ms: number): Promise<Measured> {
  const correct = await isAsExpected(pool, workload, expectedOf(name))
  return { deliveries: workload.deliveries.length, ms, correct }
}
