import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { justonce, once } from '../../src/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { parkedMessage, recordOf, request } from '../../src/testing/sample-records.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'
import { newPool, newSchema } from './pg-context.ts'
import { type RewritingProxy, rewritingProxy } from './rewriting-proxy.ts'

const server = await requireServer('postgres')
const sorry = new Error('the work failed')

describe.skipIf(!server.available).each(poolsOf)('$client: the opening of a transaction fails', ({ open }) => {
  let url: string
  let proxy: RewritingProxy
  let shared: SharedPool
  let schema: string
  let admin: ReturnType<typeof newPool>

  beforeAll(async () => {
    url = await createDatabase(server.url)
  })
  beforeEach(async () => {
    proxy = await rewritingProxy(url)
    admin = newPool({ url })
    schema = newSchema()
    shared = open({ url: proxy.url(url), schema })
    await shared.store.schema.install()
    await admin.query(`CREATE TABLE ${schema}.effects (name text NOT NULL)`)
  })
  afterEach(async () => {
    await shared.close()
    await proxy.stop()
    await admin.query(`DROP SCHEMA ${schema} CASCADE`)
    await admin.end()
  })

  const write = (tx: unknown, name: string) => shared.run(tx, `INSERT INTO ${schema}.effects VALUES ('${name}')`)
  const effects = async () => {
    const { rows } = await admin.query<{ name: string }>(`SELECT name FROM ${schema}.effects ORDER BY name`)
    return rows.map(({ name }) => name)
  }
  /** Something has run before, so that whatever is prepared is prepared. */
  const warmUp = async () => {
    for (const key of ['w1', 'w2']) await shared.store.transaction((tx) => shared.store.inbox.claim(tx, [request(key)]))
  }
  const ways: readonly { what: string; harm(): Promise<void>; after?(): void }[] = [
    { what: 'DISCARD ALL on the pool', harm: async () => void (await shared.query('DISCARD ALL')) },
    { what: 'DEALLOCATE ALL on the pool', harm: async () => void (await shared.query('DEALLOCATE ALL')) },
    {
      what: 'a BEGIN that the server refuses',
      harm: async () => proxy.rewrite('BEGIN ISOLATION LEVEL', 'BEGIM ISOLATION LEVEL'),
    },
    {
      what: 'a seal that the server refuses',
      harm: async () => proxy.rewrite('DECLARE justonce_seal', 'DECLARE justonce.seal'),
    },
  ]

  describe.each(ways)('by $what', ({ harm }) => {
    test('what the work did before it threw is not there, with a claim', async () => {
      const { store } = shared
      await warmUp()
      await harm()
      await store
        .transaction(async (tx) => {
          await store.inbox.claim(tx, [request('m1')])
          const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
          await write(loan.tx, 'm1')
          throw sorry
        })
        .catch(() => {})
      proxy.pass()
      expect(await recordOf(store, request('m1'))).toBeUndefined()
      expect(await effects()).toEqual([])
    })

    test('nor is what it did with a parked row, a position or nothing of ours before', async () => {
      const { store } = shared
      await warmUp()
      await store.transaction((tx) => store.parking.park(tx, [parkedMessage('p1')]))
      const [row] = await store.parking.list()
      await harm()
      const to = { next: '1', incarnation: 'a' }
      const move = { source: 's', partition: '0', expected: undefined, to }
      const firsts: ((tx: unknown) => Promise<unknown>)[] = [
        (tx) => store.parking.take(tx, [row!]),
        (tx) => store.parking.change(tx, [{ ...row!, kind: 'done' }]),
        (tx) => store.positions.move(tx, 'group', [move]),
        (tx) => store.queue.send(tx, '>notes', [{ key: undefined, message: row!.message }]),
        async () => {},
      ]
      for (const first of firsts) {
        await store
          .transaction(async (tx) => {
            await first(tx)
            await write(store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} }).tx, 'p1')
            throw sorry
          })
          .catch(() => {})
        await store
          .transaction(async (tx) => {
            await first(tx)
            await write(tx, 'p1')
            throw sorry
          })
          .catch(() => {})
      }
      proxy.pass()
      expect(await effects()).toEqual([])
      expect(await store.parking.list()).toHaveLength(1)
      expect(await store.queue.queues()).toEqual([])
    })

    test('a transaction after it works', async () => {
      const { store } = shared
      await warmUp()
      await harm()
      await store.transaction((tx) => store.inbox.claim(tx, [request('m1')])).catch(() => {})
      proxy.pass()
      const outcome = await once(store, { handler: 'charge', key: 'k1' }, (tx) => write(tx, 'k1'))
      expect(outcome.status).toBe('processed')
      expect(await effects()).toEqual(['k1'])
    })
  })

  test.each(['DISCARD ALL', 'DEALLOCATE ALL'])('%s on the pool: nobody notices', async (text) => {
    await warmUp()
    for (const key of ['k1', 'k2', 'k3']) {
      await shared.query(text)
      const outcome = await once(shared.store, { handler: 'charge', key }, async (tx) => {
        await write(tx, key)
        return key
      })
      expect(outcome).toEqual({ status: 'processed', value: key })
    }
    expect(await effects()).toEqual(['k1', 'k2', 'k3'])
  })

  test('DEALLOCATE ALL in a handler: every message takes effect once, and the app stops', async () => {
    const transport = memoryTransport()
    const app = justonce({ store: shared.store, transport, concurrency: 1, batch: { max: 5, budgetMs: 60_000 } })
    app.on('note.created', { name: 'tag-note', retry: { backoff: () => 1 } }, async ({ id }, { tx }) => {
      await write(tx, id)
      if (Number(id.slice(1)) % 4 === 0) await shared.run(tx, 'DEALLOCATE ALL')
    })
    const ids = Array.from({ length: 20 }, (_, index) => `m${index + 10}`)
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
    await app.start()
    const until = performance.now() + 15_000
    while ((await effects()).length < ids.length && performance.now() < until) await pause(20)
    await app.stop()
    expect(await effects()).toEqual(ids)
    expect(await countParked(shared.store)).toBe(0)
  })
})
