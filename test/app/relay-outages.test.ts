import { expect, test } from 'vitest'
import type { OutgoingMessage, Publisher } from '../../src/driver.ts'
import { MemoryDatabase, type MemoryStore, memoryStore, memoryTransport } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

/** An app that publishes to a broker; the store and the broker can be away, and then fail with the same error. */
function openPublishing() {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const inner = memoryStore({ database })
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const state = { storeIsDown: false, brokerIsDown: false, takes: 0, pings: 0 }
  const reach = async (): Promise<void> => {
    if (state.storeIsDown) throw refused
  }
  const store: MemoryStore = {
    ...inner,
    queue: {
      ...inner.queue,
      async take(...given) {
        state.takes++
        await reach()
        return inner.queue.take(...given)
      },
    },
    async ping() {
      state.pings++
      await reach()
    },
    classify: (error) => (error === refused ? 'unavailable' : inner.classify(error)),
  }
  const received: OutgoingMessage[] = []
  const publisher: Publisher = {
    destination: 'broker',
    async publish(messages) {
      if (state.brokerIsDown) throw refused
      received.push(...messages)
      return messages.map(() => ({ kind: 'sent' }))
    },
    async close() {},
  }
  const transport = memoryTransport()
  const opened = openApp({
    ...{ store, database, clock, transport, from: transport, to: publisher },
    ...{ heartbeat: false, log: false },
  })
  opened.app.on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  const publish = (id: string) => inner.transaction((tx) => opened.app.publish('note.tagged', {}, { tx, id }))
  const ofRelay = () => opened.eventsOf('loop-failed').filter(({ loop }) => loop === 'relay')
  return { ...opened, state, publish, ofRelay, received: () => received.map(({ id }) => id) }
}

test('while the store is down the relay asks for nothing until a probe is answered, and says once that it is down', async () => {
  const { app, clock, state, publish, ofRelay, received, eventsOf } = openPublishing()
  await app.start()
  await clock.advance(0)
  await publish('m1')
  state.storeIsDown = true
  await clock.advance(5_000)
  const { takes, pings } = state
  await clock.advance(60_000)
  expect(state.pings).toBeGreaterThan(pings + 3)
  expect(state.takes).toBe(takes)
  expect(ofRelay()).toEqual([])
  expect(eventsOf('store-down')).toHaveLength(1)

  state.storeIsDown = false
  await clock.advance(15_000)
  expect(eventsOf('store-up')).toHaveLength(1)
  expect(received()).toEqual(['m1'])
})

test('a broker that is away does not count as the store, whatever its error looks like: messages are handled meanwhile', async () => {
  const { app, clock, state, transport, publish, ofRelay, received, eventsOf, effects, quiet } = openPublishing()
  state.brokerIsDown = true
  await publish('m1')
  await app.start()
  await clock.advance(30_000)
  const { pings } = state
  expect(ofRelay().length).toBeGreaterThan(2)
  transport.send([note('n1')])
  await quiet()
  expect(effects()).toEqual({ n1: 1 })
  expect(state.pings).toBe(pings)
  expect(eventsOf('store-down')).toEqual([])

  state.brokerIsDown = false
  await clock.advance(10_000)
  expect(received()).toEqual(['m1'])
})
