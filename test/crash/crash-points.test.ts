import { afterEach, expect, test } from 'vitest'
import type { Store, Transport } from '../../src/contracts/index.ts'
import { justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import {
  type CrashPoint,
  crashingStore,
  crashingTransport,
  crashPoints,
  type Die,
  type ReachedPoint,
} from '../../src/testing/index.ts'
import { overriding } from '../../src/testing/overriding.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})

function openStore() {
  const store = sqliteStore({ path: ':memory:' })
  opened.push(store)
  return store
}

function dyingAtAll<S extends Store>(store: S, die: Die): S {
  return crashPoints.reduce((inner, point) => crashingStore(inner, point, die), store)
}

function dyingAtAllTransport<T extends Transport>(transport: T, die: Die): T {
  return crashPoints.reduce((inner, point) => crashingTransport(inner, point, die), transport)
}

test.each(['inside', 'separate'] as const)('acknowledged %s: every point is reached, in order', async (kind) => {
  const reached: ReachedPoint[] = []
  const { promise: acknowledged, resolve } = Promise.withResolvers<void>()
  const die: Die = (point) => {
    reached.push(point)
    if (point.point === 'after-ack') resolve()
  }
  const store = dyingAtAll(openStore(), die)
  const broker = kind === 'inside' ? store : openStore()
  await broker.schema.install()
  const transport = dyingAtAllTransport(queueTransport({ store: broker }), die)
  const app = justonce({ store, transport })
  app.on('note', 'count', (message) => die({ point: 'between-writes', keys: [message.id] }))
  const id = await app.publish('note', {})
  await app.start()
  await acknowledged
  await app.stop()
  expect(reached).toEqual(crashPoints.map((point) => ({ point, keys: [id] })))
})

test('what dies before the commit leaves nothing, after it everything', async () => {
  const counts: Partial<Record<CrashPoint, number>> = {}
  for (const point of ['after-claim', 'before-commit', 'after-commit'] as const) {
    const inner = openStore()
    await inner.schema.install()
    const store = crashingStore(inner, point, () => {
      throw new Error('died')
    })
    const claim = store.transaction((tx) =>
      store.inbox.claim(tx, [{ handler: 'count', key: 'm1', fingerprint: undefined }]),
    )
    await expect(claim).rejects.toThrow('died')
    counts[point] = (await recordOf(inner, { handler: 'count', key: 'm1' })) === undefined ? 0 : 1
  }
  expect(counts).toEqual({ 'after-claim': 0, 'before-commit': 0, 'after-commit': 1 })
})

test('where positions are kept in the store, moving them is the claim', async () => {
  const reached: ReachedPoint[] = []
  const store = dyingAtAll(openStore(), (point) => void reached.push(point))
  await store.schema.install()
  const to = (next: string) => ({ source: 'notes', partition: '0', to: { next, incarnation: 'first' } })
  const move = { ...to('3'), expected: undefined }
  await store.transaction((tx) => store.positions?.move(tx, 'tagger', [move]) ?? Promise.resolve([]))
  const points = ['before-claim', 'after-claim', 'before-commit', 'after-commit']
  expect(reached.splice(0)).toEqual(points.map((point) => ({ point, keys: [], moves: [move] })))
  // The store does not stand where this one begins: it claims nothing.
  const late = { ...to('5'), expected: { next: '4', incarnation: 'first' } }
  await store.transaction((tx) => store.positions?.move(tx, 'tagger', [late]) ?? Promise.resolve([]))
  expect(reached).toEqual([{ point: 'before-claim', keys: [], moves: [late] }])
})

test('the next attempt of a parked message reaches the same points', async () => {
  const reached: CrashPoint[] = []
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const store = dyingAtAll(openStore(), ({ point }) => void reached.push(point))
  await store.schema.install()
  const transport = queueTransport({ store })
  const app = justonce({ store, transport, pollMs: 5 })
  let attempts = 0
  app.on('note', { name: 'count', retry: { backoff: () => 0 } }, (_, { afterCommit }) => {
    if (++attempts === 1) throw new Error('at first')
    reached.length = 0
    reached.push('between-writes')
    afterCommit(resolve)
  })
  await app.publish('note', {})
  await app.start()
  await done
  await app.stop()
  expect(reached).toEqual(['between-writes', 'before-commit', 'after-commit'])
})

test('a replaced member does not cost the others their this', () => {
  class Counter {
    #count = 0
    name = 'counter'
    add() {
      return ++this.#count
    }
  }
  const counter = overriding(new Counter(), { name: 'replaced' })
  expect([counter.name, counter.add(), counter.add()]).toEqual(['replaced', 1, 2])
})
