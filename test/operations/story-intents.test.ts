import { expect, onTestFinished, test } from 'vitest'
import { justonce, operations, type Store } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

test.each([
  ['memory', () => memoryStore() as Store],
  ['SQLite', () => sqliteStore({ path: ':memory:' }) as unknown as Store],
])('the story of a message has the calls outside that its handlers intended: %s', async (_, open) => {
  const store = open()
  const transport = memoryTransport()
  const app = justonce({ store, transport, log: false, pollMs: 10 })
  onTestFinished(async () => {
    await app.stop()
    await store.close()
  })
  const unknown = Promise.withResolvers<void>()
  app.events.listen(({ kind }) => kind === 'intent-unknown' && unknown.resolve())
  app.on('order.paid', 'invoice', async ({ id }, { intend }) => {
    await intend('mail.send', { to: id }, { key: `mail of ${id}` })
    await intend('courier.book', { order: id }, { delayMs: 3_600_000 })
  })
  app.on(
    'order.paid',
    { name: 'by-business-id', identify: ({ id }) => `business ${id}`, fingerprint: 'none' },
    async (_, { intend }) => void (await intend('courier.book', {}, { delayMs: 3_600_000 })),
  )
  app.effect('mail.send', {
    run() {
      throw new Error('socket hang up')
    },
  })
  app.effect('courier.book', { run() {} })
  await app.start()
  transport.send(['o1', 'o2'].map((id) => ({ id, type: 'order.paid', body: {} })))
  await transport.idle()
  await unknown.promise
  const { messages, intents } = operations(store)
  const story = await messages.story('o1')
  expect(story?.intents.map(({ handler, key }) => [handler, key]).sort()).toEqual([
    ['!courier.book', expect.any(String)],
    ['!mail.send', 'mail of o1'],
  ])
  expect((await messages.story('business o1'))?.intents).toHaveLength(1)
  expect(await intents.get({ effect: 'mail.send', key: 'mail of o1' })).toMatchObject({ causedBy: 'o1' })
})

test('an intent of no message has no cause', async () => {
  const store = memoryStore()
  const app = justonce({ store, log: false })
  onTestFinished(() => app.stop())
  app.effect('mail.send', { run() {} })
  await store.schema.install()
  await store.transaction(async (tx) => await app.intend('mail.send', {}, { tx, delayMs: 3_600_000 }))
  const [intent] = await operations(store).intents.list()
  expect([intent?.effect, intent?.causedBy]).toEqual(['mail.send', undefined])
})
