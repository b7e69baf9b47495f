import { expect, test } from 'vitest'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { operations } from '../../src/index.ts'
import { MemoryDatabase, memoryStore } from '../../src/stores/memory/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'

/** A store with 60 messages in a queue, and three that came an hour later. */
async function openQueue() {
  const clock = fakeClock()
  const store = memoryStore({ database: new MemoryDatabase({ clock }) })
  const send = async (ids: readonly string[]): Promise<void> => {
    const message = { type: 'note.created', key: undefined, body: Uint8Array.of(1), headers: {}, sentAt: clock.now() }
    await store.queue.send(
      undefined,
      'notes',
      ids.map((id) => toQueue({ ...message, id })),
    )
  }
  await send(Array.from({ length: 60 }, (_, n) => `old ${n}`))
  await clock.advance(3_600_000)
  await send(['new 0', 'new 1', 'new 2'])
  return { messages: operations(store, { clock }).messages, now: clock.now() }
}

test('what came lately is found behind more than a page of what is older', async () => {
  const { messages, now } = await openQueue()
  const since = new Date(now.getTime() - 600_000)
  const found = await messages.find({ state: 'queued', since }, { limit: 50 })
  expect(found.map(({ key }) => key)).toEqual(['new 0', 'new 1', 'new 2'])
  expect(await messages.find({ state: 'queued' }, { limit: 50 })).toHaveLength(50)
})

test('a queue of the store is listed page by page', async () => {
  const { messages } = await openQueue()
  const first = await messages.queued('notes', { limit: 50 })
  const rest = await messages.queued('notes', { limit: 50, after: first.at(-1)?.place })
  expect([...first, ...rest].map(({ id }) => id)).toEqual([
    ...Array.from({ length: 60 }, (_, n) => `old ${n}`),
    ...['new 0', 'new 1', 'new 2'],
  ])
  expect(first[0]).toMatchObject({ type: 'note.created', destination: 'queue:notes', state: 'waiting', attempts: 0 })
  expect(await messages.queued('notes', { after: rest.at(-1)?.place })).toEqual([])
  expect(await messages.queued('nothing')).toEqual([])
  await expect(messages.queued('notes', { after: 'x' })).rejects.toThrow('not the place')
})
