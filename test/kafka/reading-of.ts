import { onTestFinished } from 'vitest'
import type { Delivery, Transport } from '../../src/contracts/index.ts'
import { idsOf } from '../../src/testing/reading.ts'

type Options = Parameters<Transport['deliveries']>[0]

export interface ReadingOf {
  /** So many, however they are batched. */
  take(count: number): Promise<readonly Delivery[]>
  /** The same, beginning anew after each failure, as the engine does. */
  takeOrRestart(count: number): Promise<readonly Delivery[]>
}

/** Reads until the end of the test. */
export function readingOf(transport: Transport, options: Partial<Omit<Options, 'signal'>> = {}): ReadingOf {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  const open = () =>
    transport.deliveries({ maxInFlight: 100, ...options, signal: ending.signal })[Symbol.asyncIterator]()
  let iterator = open()
  const take = async (count: number): Promise<readonly Delivery[]> => {
    const taken: Delivery[] = []
    while (taken.length < count) {
      const { done, value } = await iterator.next()
      if (done) throw new Error(`The reading ended after ${taken.length} of ${count} deliveries.`)
      taken.push(...value)
    }
    return taken
  }
  return {
    take,
    async takeOrRestart(count) {
      for (;;) {
        try {
          return await take(count)
        } catch {
          iterator = open()
        }
      }
    },
  }
}

/** Settles whatever comes until the end of the test. The ids are added as they come. */
export function idsSettled(transport: Transport, reading: ReadingOf): readonly (string | undefined)[] {
  const seen: (string | undefined)[] = []
  void (async () => {
    for (;;) {
      const deliveries = await reading.take(1)
      seen.push(...idsOf(deliveries))
      await transport.settle(deliveries, { kind: 'done' }).catch(() => {})
    }
  })().catch(() => {})
  return seen
}
