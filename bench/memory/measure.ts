import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface Memory {
  /** Of the whole process. */
  readonly residentMb: number
  /** What can be reached. */
  readonly heapMb: number
}

/** After everything that nobody needs any more is gone: otherwise it would measure how lazy the collector is. */
export async function gcAndMeasure(): Promise<Memory> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) {
    collect()
    // What waits for a turn of the event loop, finalizers for example, goes with the next one.
    await sleep(10)
  }
  const { rss, heapUsed } = process.memoryUsage()
  return { residentMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20 }
}
