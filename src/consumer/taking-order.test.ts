import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delivery } from '../contracts/index.ts'
import { affinityOf, takingOrder } from './taking-order.ts'

const delivery = (key: string | undefined, lane?: string): Delivery => ({
  message: { id: 'm', type: 'a', source: 's', headers: {}, body: new Uint8Array(), key },
  lane,
})

const queueOf = (...keys: (string | undefined)[]) => keys.map((key) => delivery(key))

test('what shares a key with the oldest goes with it, then the next oldest', () => {
  expect(takingOrder(queueOf('a', 'b', 'a', 'c', 'b', 'a'))).toEqual([0, 2, 5, 1, 4, 3])
})

test('what has no key shares nothing', () => {
  expect(takingOrder(queueOf(undefined, 'a', undefined, 'a'))).toEqual([0, 1, 3, 2])
})

test('a lane of the transport stays together, whatever the keys in it', () => {
  const queue = [delivery('a', 'p0'), delivery('a', 'p1'), delivery('b', 'p0')]
  expect(takingOrder(queue)).toEqual([0, 2, 1])
})

test('every place comes once, the oldest first, and each key in its order', () => {
  const anyQueue = fc.array(fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }), { minLength: 1 })
  fc.assert(
    fc.property(anyQueue, (keys) => {
      const queue = queueOf(...keys)
      const places = takingOrder(queue)
      expect(places[0]).toBe(0)
      expect(places.toSorted((a, b) => a - b)).toEqual([...queue.keys()])
      for (const key of ['a', 'b', 'c']) {
        const ofKey = places.filter((place) => affinityOf(queue[place] as Delivery) === key)
        expect(ofKey).toEqual(ofKey.toSorted((a, b) => a - b))
      }
    }),
  )
})
