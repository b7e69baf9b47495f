import { expect, test } from 'vitest'
import type { HandlerOptions } from '../../src/index.ts'
import { MemoryDatabase, type MemoryTransport, memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp } from './open-app.ts'

/**
 * An app whose handler of `slow` ends only when the test says so. A memory store runs one transaction at a time: here several are
 * pretended, and each that is lent to a handler has a database to itself.
 */
function openSlow(options: Partial<HandlerOptions> = {}, from?: Readonly<Record<string, MemoryTransport>>) {
  const clock = fakeClock()
  const inner = memoryStore({ database: new MemoryDatabase({ clock }) })
  const apart: typeof inner.transaction = (work, given) =>
    memoryStore({ database: new MemoryDatabase({ clock }) }).transaction(work, given)
  const store = { ...inner, capabilities: { revocable: true, connections: 20 }, transaction: apart }
  const opened = openApp({
    ...{ store, clock, batch: { max: 1 }, concurrency: 4 },
    ...(from !== undefined && { from }),
  })
  const waiting: (() => void)[] = []
  const quick: string[] = []
  let running = 0
  let most = 0
  const slow = async () => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => waiting.push(resolve))
    running--
  }
  opened.app.on('slow', { name: 'slow', ...options }, slow)
  opened.app.on('quick', 'quick', ({ id }) => void quick.push(id))
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await opened.clock.advance(0)
  }
  return {
    ...opened,
    quick,
    settle,
    running: () => running,
    most: () => most,
    /** Lets those that are running end. */
    async finish(): Promise<void> {
      for (const end of waiting.splice(0)) end()
      await settle()
    },
  }
}

const slow = (id: string, key?: string) => note(id, { type: 'slow', key })
const quick = (id: string) => note(id, { type: 'quick' })

test('no more of its messages than it wants are handled at once, and others go on', async () => {
  const { app, transport, settle, running, most, quick: done, finish } = openSlow({ concurrency: 1 })
  await app.start()
  transport.send([slow('s1'), slow('s2'), slow('s3'), quick('q1'), quick('q2')])
  await settle()
  expect(running()).toBe(1)
  expect(done).toEqual(['q1', 'q2'])
  for (let i = 0; i < 3; i++) await finish()
  expect(transport.settled()).toHaveLength(5)
  expect(most()).toBe(1)
})

test('without it as many as the app can', async () => {
  const { app, transport, settle, running, finish } = openSlow()
  await app.start()
  transport.send([slow('s1'), slow('s2'), slow('s3')])
  await settle()
  expect(running()).toBe(3)
  await finish()
})

test('messages of a key keep their order behind one that has to wait', async () => {
  const seen: string[] = []
  const { app, transport, settle, finish } = openSlow({ concurrency: 1 })
  app.on('after', 'after', ({ id }) => void seen.push(id))
  await app.start()
  transport.send([slow('s1'), slow('s2', 'k'), note('a1', { type: 'after', key: 'k' })])
  await settle()
  expect(seen).toEqual([])
  await finish()
  expect(seen).toEqual([])
  await finish()
  expect(seen).toEqual(['a1'])
})

test('two transports share the limit', async () => {
  const [one, other] = [memoryTransport(), memoryTransport()]
  const { app, settle, running, most, finish } = openSlow({ concurrency: 1 }, { one, other })
  await app.start()
  one.send(slow('s1'))
  other.send(slow('s2'))
  await settle()
  expect(running()).toBe(1)
  await finish()
  expect(running()).toBe(1)
  await finish()
  expect([...one.settled(), ...other.settled()]).toHaveLength(2)
  expect(most()).toBe(1)
})
