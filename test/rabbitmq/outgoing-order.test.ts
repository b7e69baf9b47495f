import * as client from 'amqplib'
import pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { startReading } from '../../src/testing/reading.ts'
import { rabbitmqTransport } from '../../src/transports/rabbitmq/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'
import { queueName } from './connect.ts'

const rabbitmq = await requireServer('rabbitmq')
const postgres = await requireServer('postgres')
const keys = ['a', 'b', 'c']
const count = 600

/** Two processes, as far as database and broker can tell, each with a relay; the broker is reached through a proxy. */
async function openWorld() {
  const url = await createDatabase(postgres.url)
  const proxy = await startProxy('127.0.0.1', Number(new URL(rabbitmq.url).port))
  const out = { client, queue: queueName('out'), declare: { type: 'classic' as const } }
  const apps = Array.from({ length: 2 }, () => {
    const pool = new pg.Pool({ connectionString: url, max: 5 })
    const transport = rabbitmqTransport({ ...out, url: proxy.url(rabbitmq.url), publishTo: publishedTo(out.queue) })
    const store = postgresStore({ pool })
    // It reads nothing: what it publishes is read here.
    const app = justonce({ store, transport: { ...transport, deliveries: nothing }, pollMs: 50 })
    app.on('unused', 'unused', () => {})
    return { app, store, pool }
  })
  for (const { app } of apps) await app.start()
  onTestFinished(async () => {
    for (const { app, pool } of apps) {
      await app.stop({ withinMs: 5_000 })
      await pool.end()
    }
    await proxy.stop()
  })
  const reader = rabbitmqTransport({ ...out, url: rabbitmq.url })
  onTestFinished(() => reader.close())
  const context = { connect: async () => reader, close: async () => {}, patienceMs: 60_000 }
  return { apps, proxy, reader, reading: startReading(context, reader) }
}

const publishedTo = (queue: string) => ({ exchange: '', routingKey: queue })

async function* nothing({ signal }: { readonly signal: AbortSignal }) {
  yield* []
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

/** Publishes numbers under a few keys, each in a transaction of its own, while whatever happens happens. */
async function publishAll({ apps }: Awaited<ReturnType<typeof openWorld>>, after: (number: number) => unknown) {
  const ids: string[] = []
  for (let number = 0; number < count; number++) {
    const { app, store } = apps[number % 2] as (typeof apps)[number]
    const key = keys[number % 3] as string
    const id = `${key}-${number}`
    await store.transaction((tx) => app.publish('note.tagged', {}, { tx, id, key }))
    ids.push(id)
    await after(number)
  }
  return ids
}

const outage = (proxy: FaultProxy) => async (number: number) => {
  if (number === 100) {
    await proxy.refuse()
    proxy.cutAll()
  }
  if (number === 450) await proxy.accept()
}

describe.skipIf(!rabbitmq.available || !postgres.available)('what several processes publish under a key', () => {
  vi.setConfig({ testTimeout: 120_000 })

  test.each([
    ['without any fault', () => () => {}],
    ['through an outage of the broker', outage],
  ] as const)('arrives in its order %s', async (_, fault) => {
    const world = await openWorld()
    const ids = await publishAll(world, fault(world.proxy))
    const taken = await world.reading.takeUntil(ids)
    // What was sent twice, because nobody knew whether it had arrived, has its place where it came first.
    const arrived = [...new Set(taken.map(({ message }) => message.id))]
    for (const key of keys) {
      const ofKey = (id: string | undefined) => id?.startsWith(`${key}-`)
      expect(arrived.filter(ofKey)).toEqual(ids.filter(ofKey))
    }
  })
})
