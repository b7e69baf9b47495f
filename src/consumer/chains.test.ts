import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Delivery } from '../contracts/index.ts'
import { type Chain, Chains, type TakenBatch } from './chains.ts'

const delivery = (id: string, key?: string, more: Partial<Delivery> = {}): Delivery => ({
  message: { id, key, source: 's', headers: {}, body: new Uint8Array() },
  ...more,
})
const idsOf = (deliveries: Iterable<Delivery>) => [...deliveries].map(({ message }) => message.id)
const take = (chains: Chains, count: number): TakenBatch => {
  let left = count
  return chains.take(() => left-- > 0)
}
const settle = (chains: Chains, batch: TakenBatch) => chains.end(batch, () => undefined)

test('what shares a key with the oldest goes with it, then the next oldest', () => {
  const chains = new Chains()
  chains.add(
    ['a', 'b', 'a', 'c', 'b', 'a'].map((key, index) => delivery(`${key}${index}`, key)),
    0,
  )
  expect(idsOf(take(chains, 4).deliveries)).toEqual(['a0', 'a2', 'a5', 'b1'])
})

test("the transport's lane counts before the key, and what has neither stands alone", () => {
  const chains = new Chains()
  const lane = (id: string, key: string, name: string) => delivery(id, key, { lane: name })
  chains.add([lane('x', 'k', 'p0'), lane('y', 'k', 'p1'), delivery('z'), lane('w', 'l', 'p0')], 0)
  expect(idsOf(chains.candidates())).toEqual(['x', 'w', 'y', 'z'])
})

test('a chain is with one worker at a time; others are not held up by it', () => {
  const chains = new Chains()
  chains.add([delivery('a1', 'a'), delivery('a2', 'a'), delivery('b1', 'b')], 0)
  const first = take(chains, 1)
  expect(idsOf(first.deliveries)).toEqual(['a1'])
  expect(chains.stuck).toBe(1)
  expect(idsOf(take(chains, 9).deliveries)).toEqual(['b1'])
  expect(chains.canBegin()).toBe(false)
  settle(chains, first)
  expect(idsOf(take(chains, 9).deliveries)).toEqual(['a2'])
  expect(chains.stuck).toBe(0)
})

test('what may not begin now stays where it is with all that follows it, and holds up nobody else', () => {
  const chains = new Chains()
  const [slow, quick, after] = [delivery('slow', 'a'), delivery('quick'), delivery('after', 'a')]
  chains.add([slow, delivery('before', 'b'), delivery('slow too', 'b'), quick, after], 0)
  const mayBegin = ({ message }: Delivery) => !message.id?.startsWith('slow')
  expect(idsOf(chains.candidates(mayBegin))).toEqual(['before', 'quick'])
  const batch = chains.take(() => true, mayBegin)
  expect(idsOf(batch.deliveries)).toEqual(['before', 'quick'])
  expect(chains.canBegin(mayBegin)).toBe(false)
  settle(chains, batch)
  expect(chains.canBegin(mayBegin)).toBe(false)
  expect(idsOf(chains.take(() => true).deliveries)).toEqual(['slow', 'after', 'slow too'])
})

test('what is left of a batch stands before all that came later', () => {
  const chains = new Chains()
  chains.add([delivery('a1', 'a'), delivery('a2', 'a'), delivery('x')], 0)
  const batch = take(chains, 9)
  chains.add([delivery('a3', 'a'), delivery('y')], 0)
  chains.end(batch, ({ message }) => (message.id === 'a2' ? 0 : undefined))
  expect(idsOf(chains.candidates())).toEqual(['a2', 'a3', 'y'])
  expect(chains.size).toBe(3)
})

test('a chain whose first has to wait is set aside with all that follows, for as long as the slowest of it', () => {
  const chains = new Chains()
  chains.add([delivery('a1', 'a'), delivery('a2', 'a'), delivery('b1', 'b')], 0)
  const batch = take(chains, 9)
  const pauses = chains.end(batch, ({ message }) => ({ a1: 10, a2: 500 })[message.id as string])
  expect([...pauses.values()]).toEqual([500])
  chains.add([delivery('a3', 'a'), delivery('c1', 'c')], 0)
  expect(idsOf(chains.candidates())).toEqual(['c1'])
  expect(chains.stuck).toBe(3)
  for (const chain of pauses.keys()) chains.resume(chain)
  expect(idsOf(chains.candidates())).toEqual(['a1', 'a2', 'a3', 'c1'])
})

test('of a chain that cannot go on, the tail can go elsewhere', () => {
  const chains = new Chains()
  const stuckAfter = (...ids: string[]): Chain => {
    const [chain] = chains.add(
      ids.map((id) => delivery(id, 'a')),
      0,
    )
    return chain as Chain
  }
  chains.add([delivery('a0', 'a')], 0)
  take(chains, 1)
  expect(idsOf(chains.takeTail(stuckAfter('a1', 'a2', 'a3'), 1))).toEqual(['a2', 'a3'])
  expect(chains.size).toBe(2)
  chains.split(stuckAfter('a4', 'a5'), 2)
  expect(idsOf(chains.candidates())).toEqual(['a5'])
  expect(chains.stuck).toBe(2)
})

test('what can no longer be settled goes, whether it waits or was with a worker; what came anew stays', () => {
  const chains = new Chains()
  const connection = new AbortController()
  const old = { ended: connection.signal }
  chains.add([delivery('a1', 'a', old), delivery('a2', 'a', old), delivery('b1', 'b', old)], 0)
  const batch = take(chains, 1)
  connection.abort()
  chains.add([delivery('a1', 'a'), delivery('b1', 'b')], 0)
  const isOver = (each: Delivery) => each.ended?.aborted === true
  expect(idsOf(chains.remove(isOver))).toEqual(['a2', 'b1'])
  chains.end(batch, () => 0)
  expect(idsOf(chains.candidates())).toEqual(['a1', 'b1'])
  expect(chains.size).toBe(2)
})

test('what goes back takes with it what follows it in its chain', () => {
  const chains = new Chains()
  chains.add([delivery('a1', 'a'), delivery('b1', 'b')], 0)
  chains.add([delivery('a2', 'a'), delivery('c1', 'c')], 5)
  const old = new Set(chains.arrivedBefore(5))
  expect(idsOf(old)).toEqual(['a1', 'b1'])
  expect(idsOf(chains.remove((each) => old.has(each), true))).toEqual(['a1', 'a2', 'b1'])
  expect(idsOf(chains.candidates())).toEqual(['c1'])
})

test('a chain that was emptied while it was set aside does not disturb the next of its name', () => {
  const chains = new Chains()
  chains.add([delivery('a1', 'a')], 0)
  const [[aside]] = [...chains.end(take(chains, 1), () => 100)] as [[Chain, number]]
  chains.remove(() => true)
  chains.add([delivery('a2', 'a')], 0)
  chains.resume(aside)
  chains.add([delivery('a3', 'a')], 0)
  expect(idsOf(chains.candidates())).toEqual(['a2', 'a3'])
})

test('whatever happens, no chain overtakes itself and nothing is forgotten', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), keys: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 6 }) }),
    fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ kind: fc.constant('end' as const), which: fc.nat(3), handled: fc.nat(4), pauseMs: fc.nat(1) }),
    fc.record({ kind: fc.constant('resume' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const chains = new Chains()
      const batches: TakenBatch[] = []
      const aside: Chain[] = []
      let sent = 0
      const handled = new Map<string, number[]>()
      const finish = (batch: TakenBatch, count: number, pauseMs: number): void => {
        const done = new Set(batch.deliveries.slice(0, count))
        for (const { message } of done)
          handled.set(message.key as string, [...(handled.get(message.key as string) ?? []), Number(message.id)])
        aside.push(...chains.end(batch, (each) => (done.has(each) ? undefined : pauseMs)).keys())
      }
      for (const each of steps) {
        if (each.kind === 'add')
          chains.add(
            each.keys.map((key) => delivery(String(sent++), `k${key}`)),
            0,
          )
        else if (each.kind === 'take') batches.push(take(chains, each.count))
        else if (each.kind === 'resume') for (const chain of aside.splice(0)) chains.resume(chain)
        else for (const batch of batches.splice(each.which, 1)) finish(batch, each.handled, each.pauseMs)
      }
      for (const batch of batches) finish(batch, 100, 0)
      for (const chain of aside) chains.resume(chain)
      while (chains.canBegin()) finish(take(chains, 3), 100, 0)
      expect([...handled.values()].flat()).toHaveLength(sent)
      for (const ids of handled.values()) expect(ids).toEqual(ids.toSorted((a, b) => a - b))
      expect([chains.size, chains.stuck]).toEqual([0, 0])
    }),
  )
})
