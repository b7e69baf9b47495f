import { parentPort, workerData } from 'node:worker_threads'
import { type Arrival, nowMs } from './arrivals.ts'

/** Says when messages arrive; see arrivals.ts. */
const { dueMs } = workerData as { readonly dueMs: Float64Array }
const never = new Int32Array(new SharedArrayBuffer(4))
const begunAt = nowMs()
for (let next = 0; next < dueMs.length; ) {
  const waitMs = begunAt + (dueMs[next] as number) - nowMs()
  if (waitMs > 0) Atomics.wait(never, 0, 0, waitMs)
  const passed = nowMs() - begunAt
  let end = next
  while (end < dueMs.length && (dueMs[end] as number) <= passed) end++
  if (end > next) parentPort?.postMessage({ begunAt, from: next, to: end } satisfies Arrival)
  next = end
}
