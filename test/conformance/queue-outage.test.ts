import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Delivery, OutgoingMessage } from '../../src/contracts/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { type FaultProxy, startProxy } from '../servers/proxy.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')

function message(id: string): OutgoingMessage {
  return { id, type: 'note.created', body: new Uint8Array(), headers: {}, sentAt: new Date(0) }
}

describe.skipIf(!postgres.available)('the queue while Postgres is out of reach', () => {
  let proxy: FaultProxy
  let near: pg.Pool
  let far: pg.Pool

  beforeAll(async () => {
    const url = await createDatabase(postgres.url)
    const { hostname, port } = new URL(url)
    proxy = await startProxy(hostname, Number(port))
    near = new pg.Pool({ connectionString: url })
    far = new pg.Pool({ connectionString: proxy.url(url) })
    // A pool without a listener ends the process when an idle connection breaks.
    far.on('error', () => {})
    await postgresStore({ pool: near }).schema.install()
  })
  afterAll(async () => {
    await far?.end()
    await proxy?.stop()
    await near?.end()
  })

  test('a consumer goes on by itself when it is back', async () => {
    const failed = Promise.withResolvers<unknown>()
    const consumer = queueTransport({ store: postgresStore({ pool: far }), onError: failed.resolve })
    const publisher = queueTransport({ store: postgresStore({ pool: near }) })
    await publisher.publish([message('m1')])
    const stopping = new AbortController()
    const iterator = consumer.deliveries({ signal: stopping.signal, maxInFlight: 10 })[Symbol.asyncIterator]()
    const next = async (): Promise<readonly Delivery[]> => (await iterator.next()).value ?? []
    const before = await next()
    await proxy.refuse()
    proxy.cutAll()
    const arrival = next()
    await failed.promise
    await publisher.publish([message('m2')])
    await proxy.accept()
    const deliveries = [...before, ...(await arrival)]
    expect(deliveries.map((each) => each.message.id)).toEqual(['m1', 'm2'])
    await consumer.settle(deliveries, { kind: 'done' })
    stopping.abort()
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    await consumer.close()
    await publisher.close()
    expect(await postgresStore({ pool: near }).queue?.count('default')).toEqual({ ready: 0, hidden: 0 })
  })
})
