import { expect, test } from 'vitest'
import { z } from 'zod'
import { justonce, type Messages, messages } from '../../src/index.ts'
import { memoryStore, memoryTransport } from '../../src/memory.ts'
import { later, note, openApp, write } from './open-app.ts'

const tagged = z.object({ tag: z.string(), at: z.coerce.date().optional() })
/** One whose answer has to be waited for. */
const slow = z.object({ tag: z.string().refine(async (tag) => tag !== 'bad', 'is bad') })

test('app.publish refuses a body that does not fit the schema of its type, and sends nothing', async () => {
  const sent: unknown[] = []
  const transport = {
    ...memoryTransport(),
    publish: async (given: readonly unknown[]) => {
      sent.push(...given)
      return []
    },
  }
  const app = justonce({ store: memoryStore(), transport, messages: messages({ 'note.tagged': tagged }) })
  const wrong = { tag: 7 } as unknown as z.infer<typeof tagged>
  await expect(app.publish('note.tagged', wrong, { id: 'p1' })).rejects.toMatchObject({
    code: 'PUBLISH_INVALID',
    message: expect.stringMatching(/^Message p1 does not match the schema of type note.tagged, .*: tag: /),
    details: { issues: [expect.objectContaining({ path: ['tag'] })] },
  })
  expect(sent).toEqual([])
})

test('a body is checked as its receiver reads it, and sent as it was given', async () => {
  const transport = memoryTransport()
  const app = justonce({ store: memoryStore(), transport, messages: messages({ 'note.tagged': tagged }) })
  const bodies: unknown[] = []
  app.on('note.tagged', 'count', ({ body }) => void bodies.push(body))
  await app.start()
  const at = new Date('2030-01-01T00:00:00Z')
  await app.publish('note.tagged', { tag: 'x', at })
  await transport.idle()
  await app.stop()
  expect(bodies).toEqual([{ tag: 'x', at }])
})

test.each([
  ['at once', tagged, 7],
  ['later', slow, 'bad'],
])('a handler that publishes what does not fit fails, also if it does not look: %s', async (_, schema, tag) => {
  const schemas = messages({ 'note.tagged': schema }) as unknown as Messages<Record<string, unknown>>
  const { app, handle, effects, eventsOf, transport } = openApp({ messages: schemas })
  app.on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx, publish }) => {
    write(tx, id)
    publish('note.tagged', { tag: id === 'm2' ? tag : 'fine' }).catch(() => {})
  })
  app.on('note.tagged', 'count', () => {})
  await handle(note('m1'), note('m2'))
  expect(effects()).toEqual({ m1: 1 })
  expect(eventsOf('parked')).toMatchObject([{ key: 'm2', state: 'waiting', reason: 'PUBLISH_INVALID', attempts: 1 }])
  expect(transport.settled().filter(({ type }) => type === 'note.tagged')).toHaveLength(1)
})
