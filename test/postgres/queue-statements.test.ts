import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Delivery, OutgoingMessage } from '../../src/contracts/index.ts'
import { justonce } from '../../src/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const server = await requireServer('postgres')

const names = {
  send: /INSERT INTO \S*justonce_queue/,
  take: /WITH head AS/,
  remove: /DELETE FROM \S*justonce_queue/,
  hide: /^UPDATE \S*justonce_queue/,
}

/** Which of our statements a text consists of. */
function namesIn(text: string): string[] {
  return Object.entries(names).flatMap(([name, pattern]) => (pattern.test(text) ? [name] : []))
}

describe.skipIf(!server.available)('statements that a queue takes', () => {
  let said: string[]
  let pool: pg.Pool
  let store: PostgresStore<pg.PoolClient>
  beforeEach(async () => {
    said = []
    class ListeningClient extends pg.Client {
      // biome-ignore lint/suspicious/noExplicitAny: passes everything on, whichever of the overloads it is
      override query(...given: any[]): any {
        const text: unknown = typeof given[0] === 'string' ? given[0] : given[0].text
        if (typeof text === 'string') said.push(...namesIn(text))
        return Reflect.apply(super.query, this, given)
      }
    }
    pool = new pg.Pool({ connectionString: await createDatabase(server.url), Client: ListeningClient })
    store = postgresStore({ pool })
    await store.schema.install()
    said = []
  })
  afterEach(async () => {
    await store.close()
    await pool.end()
  })

  const messages = (count: number, key?: string): OutgoingMessage[] =>
    Array.from({ length: count }, (_, index) => {
      const id = `m${index}`
      return { id, key, type: 'note.created', body: Uint8Array.of(123, 125), headers: {}, sentAt: new Date() }
    })

  test('sending, taking, settling and giving back: one each, however many messages there are', async () => {
    const transport = queueTransport({ store })
    await transport.publish([...messages(150), ...messages(50, 'k')])
    expect(said.splice(0)).toEqual(['send'])
    const stopping = new AbortController()
    const reading = transport.deliveries({ signal: stopping.signal, maxInFlight: 200 })[Symbol.asyncIterator]()
    const taken = ((await reading.next()).value ?? []) as readonly Delivery[]
    expect(taken).toHaveLength(200)
    expect(said.splice(0)).toEqual(['take'])
    await store.transaction(async (tx) => {
      // The first statement would travel with the opening, and would not be seen.
      await tx.query('SELECT')
      await transport.inside.settle(tx, taken.slice(0, 100), taken.slice(0, 100))
    })
    transport.inside.forget(taken.slice(0, 100))
    expect(said.splice(0)).toEqual(['remove'])
    await transport.settle(taken.slice(100, 150), { kind: 'done' })
    expect(said.splice(0)).toEqual(['remove'])
    await transport.settle(taken.slice(150), { kind: 'release' })
    expect(said.splice(0)).toEqual(['hide'])
    stopping.abort()
    await reading.return?.()
    await transport.close()
  })

  test('app.publishAll: one for each destination, in the transaction of the caller and outside', async () => {
    const to = { one: queueTransport({ store, queue: 'one' }), two: queueTransport({ store, queue: 'two' }) }
    const app = justonce({ store, to, routes: { '*': 'one', 'note.tagged': 'two' }, log: false })
    const many = messages(100).map(({ id }) => ({ type: 'note.created', body: { id }, id }))
    await app.publishAll(many)
    expect(said.splice(0)).toEqual(['send'])
    await store.transaction((tx) => app.publishAll([...many, { type: 'note.tagged', body: {} }, ...many], { tx }))
    expect(said.splice(0)).toEqual(['send', 'send'])
    expect((await store.queue.count('one')).ready).toBe(300)
    await app.stop()
  })

  test('app.publish without a transaction: callers that come while others are being sent share one', async () => {
    const app = justonce({ store, to: queueTransport({ store }), log: false })
    await Promise.all(messages(60).map(({ id }) => app.publish('note.created', { id }, { id })))
    expect(said.splice(0)).toEqual(['send', 'send', 'send', 'send', 'send'])
    expect((await store.queue.count('default')).ready).toBe(60)
    await app.stop()
  })

  test('an app: one removal for each batch, and one insertion for all that the batch publishes', async () => {
    const transport = queueTransport({ store })
    const app = justonce({ store, transport, log: false })
    const allDone = Promise.withResolvers<void>()
    let [batches, left] = [0, 400]
    app.events.listen((event) => {
      if (event.kind === 'processed' && --left === 0) allDone.resolve()
      if (event.kind === 'batch') batches++
    })
    app.on('note.created', 'tag-note', async ({ id }, { publish }) => {
      await publish('note.tagged', { id })
    })
    app.on('note.tagged', 'count-note', () => {})
    await transport.publish(messages(200))
    said = []
    await app.start()
    await allDone.promise
    await app.stop()
    const count = (name: keyof typeof names) => said.filter((each) => each === name).length
    expect(count('remove')).toBe(batches)
    expect(count('send')).toBeLessThanOrEqual(batches)
    expect(batches).toBeLessThan(100)
    expect((await store.queue.count('default')).ready).toBe(0)
  })
})
