import { Worker } from 'node:worker_threads'
import { randomFrom } from '../transfers/workload.ts'

/** These are due, by their places in the list of times. */
export interface Arrival {
  /** By `nowMs`. */
  readonly begunAt: number
  readonly from: number
  readonly to: number
}

/** One clock for all threads. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Random times of arrival at a steady rate: nobody waits for the answer to one before sending the next. */
export function dueTimes(count: number, perSecond: number): Float64Array {
  const random = randomFrom(count)
  let at = 0
  return Float64Array.from({ length: count }, () => (at += (-Math.log(1 - random()) / perSecond) * 1_000))
}

/** A thread of its own keeps the time: timers of this one are a millisecond apart, and late when it is busy. */
export function startArrivals(dueMs: Float64Array, arrive: (arrival: Arrival) => void): Promise<void> {
  const worker = new Worker(new URL('./arrivals-worker.ts', import.meta.url), { workerData: { dueMs } })
  worker.on('message', arrive)
  return new Promise((resolve, reject) => {
    worker.on('error', reject)
    worker.on('exit', () => resolve())
  })
}
