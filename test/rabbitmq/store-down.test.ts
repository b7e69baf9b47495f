import * as client from 'amqplib'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { outgoing } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { requireServer } from '../servers/require.ts'
import { queueName, withChannel } from './connect.ts'
import { countEffects, createDatabase } from './counting.ts'

const rabbitmq = await requireServer('rabbitmq')

/** Without a dead-letter exchange: what is given back once is gone. */
const declare = { type: 'quorum', arguments: { 'x-delivery-limit': 0 } } as const

describe.skipIf(!rabbitmq.available)('a store that is down', () => {
  test('costs no delivery: a queue that drops what comes back once has everything when the store is up again', async () => {
    const path = await createDatabase()
    const inner = sqliteStore({ path })
    const outage = new Error('connect ECONNREFUSED')
    const state = { isDown: false, refused: 0, pings: 0 }
    const store: typeof inner = {
      ...inner,
      async transaction(work, options) {
        if (!state.isDown) return inner.transaction(work, options)
        state.refused++
        throw outage
      },
      async ping() {
        state.pings++
        if (state.isDown) throw outage
      },
      classify: (error) => (error === outage ? 'unavailable' : inner.classify(error)),
    }
    const queue = queueName()
    const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue, declare })
    const app = justonce({ store, transport, schema: 'check', pollMs: 50, heartbeat: false, log: false })
    app.on('note.created', 'count', async ({ id }, { tx }) => {
      tx.prepare('insert into effects (id) values (?)').run(id)
    })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event))
    const kinds = () => events.map(({ kind }) => kind)
    onTestFinished(async () => {
      await app.stop()
      await inner.close()
      await withChannel(rabbitmq.url, (channel) => channel.deleteQueue(queue))
    })
    await app.start()
    state.isDown = true
    const ids = Array.from({ length: 50 }, (_, index) => `m${index}`)
    await transport.publish(ids.map((id) => outgoing(id)))
    await vi.waitFor(() => expect(kinds()).toContain('store-down'), { timeout: 15_000 })
    // Another probe: whoever gives back has done it by then.
    const { pings } = state
    await vi.waitFor(() => expect(state.pings).toBeGreaterThan(pings), { timeout: 15_000 })
    expect(state.refused).toBeGreaterThan(0)

    state.isDown = false
    await vi.waitFor(() => expect(countEffects(path)).toEqual({ effects: 50, messages: 50 }), { timeout: 15_000 })
    expect(kinds()).not.toContain('parked')
  })

  test('the queue of that test drops what is given back', async () => {
    const queue = queueName()
    const transport = rabbitmqTransport({ client, url: rabbitmq.url, queue, declare })
    onTestFinished(() => transport.close())
    await transport.publish([outgoing('m1'), outgoing('m2')])
    const ending = new AbortController()
    for await (const deliveries of transport.deliveries({ signal: ending.signal, maxInFlight: 1 })) {
      await transport.settle(deliveries, { kind: deliveries[0]?.message.id === 'm1' ? 'release' : 'done' })
      if (deliveries[0]?.message.id === 'm2') break
    }
    ending.abort()
    const { messageCount } = await withChannel(rabbitmq.url, (channel) => channel.checkQueue(queue))
    expect(messageCount).toBe(0)
  })
})
