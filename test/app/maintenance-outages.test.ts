import { expect, test } from 'vitest'
import { MemoryDatabase, type MemoryStore, memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { openApp, write } from './open-app.ts'

test('while the store is down maintenance waits for it like everything else, and reports no failure of its own', async () => {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const inner = memoryStore({ database })
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const state = { isDown: false, prepared: 0 }
  const reach = async (): Promise<void> => {
    if (state.isDown) throw refused
  }
  const store: MemoryStore = {
    ...inner,
    retention: {
      ...inner.retention,
      async prepare(aheadMs) {
        await reach()
        state.prepared++
        await inner.retention.prepare(aheadMs)
      },
    },
    ping: reach,
    classify: (error) => (error === refused ? 'unavailable' : inner.classify(error)),
  }
  const transport = memoryTransport()
  const records = { ids: 'uuidv7', retention: { days: 30 } } as const
  const { app, eventsOf } = openApp({ store, database, clock, transport, heartbeat: false, log: false, ...records })
  app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await app.start()
  await clock.advance(0)
  expect(state.prepared).toBe(1)

  state.isDown = true
  await clock.advance(300_000)
  expect(eventsOf('loop-failed')).toEqual([])
  expect(eventsOf('store-down')).toHaveLength(1)

  state.isDown = false
  await clock.advance(300_000)
  expect(eventsOf('store-up')).toHaveLength(1)
  expect(state.prepared).toBeGreaterThan(1)
})
