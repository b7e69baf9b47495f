import type { IncomingMessage } from '../../src/index.ts'
import type { Measured } from '../rounds.ts'
import { throwLater } from '../throw-later.ts'
import { maxInFlight } from '../transfers/consumers.ts'
import { decode, startLoops } from '../transfers/plain-consumers.ts'
import { type Prefetched, prefetched } from '../transfers/prefetched.ts'
import { type Expected, isRight } from '../transfers/tables.ts'
import type { Workload } from '../transfers/workload.ts'
import type { Ground } from './ground.ts'

/** A transaction per message, and nothing against duplicates. */
export function measureBare(ground: Ground, workload: Workload): Promise<Measured> {
  const options = { concurrency: ground.bareConcurrency, maxInFlight }
  const handle = async (message: IncomingMessage) => {
    try {
      await ground.applyBare(message.id as string, decode(message))
    } catch (error) {
      // It has no reason to fail, and to try again would hide that it did.
      throwLater(error)
      throw error
    }
  }
  return measure(ground, workload, 'each-delivery-once', async (source) => startLoops(source, options, handle))
}

export function measureStore(ground: Ground, workload: Workload): Promise<Measured> {
  return measure(ground, workload, 'each-message-once', (source) => ground.startApp(source))
}

/** Messages that wait in the broker when the clock starts, until the last one is settled. */
async function measure(
  ground: Ground,
  workload: Workload,
  expected: Expected,
  start: (source: Prefetched) => Promise<{ stop(): Promise<void> }>,
): Promise<Measured> {
  await ground.empty()
  const source = prefetched()
  const consumer = await start(source)
  const begunAt = performance.now()
  await source.deliverAll(workload.deliveries)
  const ms = performance.now() - begunAt
  await consumer.stop()
  const correct = isRight(await ground.look(), workload, expected)
  return { deliveries: workload.deliveries.length, ms, correct }
}
