import { expect, onTestFinished, test } from 'vitest'
import { jsonOf } from '../../src/cli/output/wording.ts'
import { dashboard } from '../../src/dashboard/index.ts'
import { justonce, operations } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'

/** Anybody who may send a message may send this one: JSON that can be read, and that nothing writes again. */
const levels = 200_000
const body = new TextEncoder().encode('['.repeat(levels) + ']'.repeat(levels))

test('a body that is nested too deeply to be written as JSON is shown as text, and hides no other', async () => {
  const store = memoryStore()
  const transport = memoryTransport()
  const app = justonce({ store, transport, log: false })
  onTestFinished(() => app.stop())
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 }, fingerprint: 'none' }, () => {
    throw new Error('no')
  })
  await app.start()
  transport.send([
    { id: 'deep', type: 'note.created', body },
    { id: 'usual', type: 'note.created', body: { amount: 30, tags: Array.from({ length: 900 }, (_, n) => n) } },
  ])
  await transport.idle()
  const { letters, messages } = operations(store)
  const listed = await letters.list()
  expect(JSON.parse(jsonOf(listed))).toMatchObject([{ key: 'deep' }, { key: 'usual', body: { amount: 30 } }])
  expect(typeof listed[0]?.body).toBe('string')
  expect(JSON.parse(jsonOf(await messages.story('deep')))).toMatchObject({ handlers: [{ state: 'dead' }] })
  const { handle } = dashboard(operations(store), { access: () => ({ by: 'ana', may: ['read', 'bodies'] }) })
  expect((await handle(new Request('http://localhost/api/messages/story?id=deep'))).status).toBe(200)
})
