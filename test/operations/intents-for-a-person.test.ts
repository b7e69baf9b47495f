import { expect, onTestFinished, test } from 'vitest'
import { justonce, operations } from '../../src/index.ts'
import { memoryStore } from '../../src/memory.ts'

test('what waits for a person is found, however many calls were intended before it', async () => {
  const store = memoryStore()
  const app = justonce({ store, log: false, pollMs: 10 })
  onTestFinished(() => app.stop())
  const unknown = Promise.withResolvers<void>()
  app.events.listen(({ kind }) => kind === 'intent-unknown' && unknown.resolve())
  app.effect('mail.send', {
    run() {
      throw new Error('socket hang up')
    },
  })
  await store.schema.install()
  await store.transaction(async (tx) => {
    for (let n = 0; n < 60; n++) await app.intend('mail.send', {}, { tx, key: `later ${n}`, delayMs: 3_600_000 })
    await app.intend('mail.send', {}, { tx, key: 'now' })
  })
  await app.start()
  await unknown.promise
  const { intents } = operations(store)
  const keys = async (filter: Parameters<typeof intents.list>[0]) =>
    (await intents.list(filter, { limit: 50 })).map(({ key }) => key)
  expect(await keys({ needsPerson: true })).toEqual(['now'])
  expect(await keys({ needsPerson: true, state: 'unknown' })).toEqual(['now'])
  expect(await keys({ needsPerson: true, state: 'pending' })).toEqual([])
  expect(await keys({ needsPerson: false })).toHaveLength(50)
  await expect(intents.list({ needsPerson: 'yes' as never })).rejects.toThrow('not true or false')
})
