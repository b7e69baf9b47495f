import { AsyncLocalStorage } from 'node:async_hooks'
import { expect, test } from 'vitest'
import type { Publisher, Transport } from '../../src/index.ts'
import { MemoryDatabase, memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

/**
 * Writes down every call of a broker that is made from inside a transaction. Whatever is called there, however deep and after
 * however many awaits, inherits the mark. What another loop does meanwhile does not.
 */
function openWatched() {
  const open = new AsyncLocalStorage<true>()
  const [inside, outside]: [string[], string[]] = [[], []]
  const see = (call: string) => void (open.getStore() ? inside : outside).push(call)
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const inner = memoryStore({ database })
  const transaction: typeof inner.transaction = (work, options) =>
    inner.transaction((...given) => open.run(true, () => work(...given)), options)
  const transport = memoryTransport()
  const wrapped: Transport = {
    ...transport,
    async settle(deliveries, settlement) {
      see(`settle ${settlement.kind}`)
      await transport.settle(deliveries, settlement)
    },
  }
  const to: Publisher = {
    destination: 'elsewhere',
    async publish(messages) {
      see('publish')
      return messages.map(() => ({ kind: 'sent' as const }))
    },
    async close() {},
  }
  const opened = openApp({
    store: { ...inner, transaction },
    database,
    clock,
    transport,
    from: wrapped,
    to,
    pollMs: 100,
  })
  return { ...opened, inside, outside }
}

test('no broker is called while a transaction is open, whatever becomes of the messages', async () => {
  const { app, clock, handle, transport, store, inside, outside, effects, eventsOf } = openWatched()
  let isBroken = true
  const retry = { attempts: 2, backoff: () => 1_000 }
  app.on('note.created', { name: 'tag-note', retry }, async ({ id }, { tx, publish }) => {
    write(tx, id)
    await publish('note.tagged', { id })
    if (id.startsWith('bad') && isBroken) throw new Error('not now')
  })
  app.on('note.seen', { name: 'see-note', delivery: 'at-most-once' }, ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'), note('bad 1'), note('bad 2'), note('m2'), note('m1'), note('s1', { type: 'note.seen' }))
  await handle(note('m3', { type: 'nobody.knows' }), note('m1', { body: 'something else' }))
  await clock.advance(10_000)
  isBroken = false
  const { id } = await app.operations.letters.redrive({ handler: 'tag-note' }, { by: 'ana' })
  await clock.advance(10_000)
  expect(await app.operations.letters.redriveStatus(id)).toMatchObject({ state: 'finished' })
  await app.once({ handler: 'charge', key: 'e1' }, async (tx, { publish }) => {
    write(tx, 'e1')
    await publish('note.charged', {})
  })
  await store.transaction((tx) => app.publish('note.tagged', {}, { tx }))
  await app.publish('note.tagged', {})
  await clock.advance(1_000)
  expect(inside).toEqual([])
  // Otherwise it has watched nothing.
  expect(effects()).toMatchObject({ m1: 1, m2: 1, 'bad 1': 1, 'bad 2': 1, s1: 1, e1: 1 })
  expect(eventsOf('relayed').reduce((sum, { sent }) => sum + sent, 0)).toBe(6)
  expect(new Set(outside)).toEqual(new Set(['settle done', 'publish']))
  expect(transport.settled()).toHaveLength(8)
})
