import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { justonce, once } from '../../src/index.ts'
import { countParked } from '../../src/operations/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'
import { newPool } from './pg-context.ts'

const server = await requireServer('postgres')

/** A database of two tenants that both have tables of justonce, and a store that lives in neither of them. */
describe.skipIf(!server.available).each(poolsOf)('$client: sessions that others change', ({ open }) => {
  let url: string
  let admin: pg.Pool
  let shared: SharedPool
  beforeEach(async () => {
    url = await createDatabase(server.url)
    admin = newPool({ url })
    const [row] = (await admin.query<{ name: string }>('SELECT current_database() AS name')).rows
    await admin.query(`ALTER DATABASE "${row!.name}" SET search_path = home, public`)
    await admin.query('CREATE SCHEMA home; CREATE SCHEMA tenant_a; CREATE SCHEMA tenant_b')
    await admin.query('DROP ROLE IF EXISTS justonce_nobody')
    await admin.query('CREATE ROLE justonce_nobody')
    for (const schema of ['home', 'tenant_a', 'tenant_b']) {
      await postgresStore({ pool: admin, schema, listen: false }).schema.install()
      await admin.query(`CREATE TABLE ${schema}.tags (note text NOT NULL)`)
      await admin.query(
        `GRANT USAGE ON SCHEMA ${schema} TO justonce_nobody; GRANT ALL ON ${schema}.tags TO justonce_nobody`,
      )
    }
    shared = open({ url })
  })
  afterEach(async () => {
    await shared.close()
    await admin.query('DROP OWNED BY justonce_nobody; DROP ROLE justonce_nobody').catch(() => {})
    await admin.end()
  })

  const rowsOf = async (table: string) => (await admin.query(`SELECT * FROM ${table}`)).rows
  const tags = async (schema: string) => (await rowsOf(`${schema}.tags`)).map(({ note }) => note).sort()
  const tag = (tx: unknown, id: string, table = 'tags') => shared.run(tx, `INSERT INTO ${table} VALUES ('${id}')`)

  /** All of them in one batch; what throws is parked for good. */
  async function handle(ids: readonly string[], work: (id: string, tx: unknown) => Promise<unknown>): Promise<void> {
    const transport = memoryTransport()
    const app = justonce({
      store: shared.store,
      from: transport,
      to: memoryTransport({ name: 'elsewhere' }),
      concurrency: 1,
    })
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async ({ id }, { tx, publish }) => {
      publish('tag.made', { id })
      await work(id, tx)
    })
    await app.start()
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
    const until = performance.now() + 15_000
    const settled = () => transport.settled().filter(({ id }) => ids.includes(id ?? ''))
    while (settled().length < ids.length && performance.now() < until) await pause(10)
    await app.stop()
    expect(settled()).toHaveLength(ids.length)
  }
  const elsewhere = async () =>
    (
      await Promise.all(
        ['tenant_a', 'tenant_b'].flatMap((schema) =>
          ['inbox', 'parked', 'queue'].map((table) => rowsOf(`${schema}.justonce_${table}`)),
        ),
      )
    ).flat()

  test('SET LOCAL search_path in a handler: its effects go there, and nothing of ours', async () => {
    await handle(['a1', 'b1', 'a2', 'x1'], async (id, tx) => {
      if (id !== 'x1') await shared.run(tx, `SET LOCAL search_path TO tenant_${id[0]}`)
      await tag(tx, id)
      if (id === 'a2') throw new Error('no')
    })
    expect([await tags('home'), await tags('tenant_a'), await tags('tenant_b')]).toEqual([['x1'], ['a1'], ['b1']])
    expect(await elsewhere()).toEqual([])
    expect(await rowsOf('home.justonce_parked')).toMatchObject([{ key: 'a2' }])
    expect((await rowsOf('home.justonce_inbox')).map(({ key }) => key).sort()).toEqual(['a1', 'a2', 'b1', 'x1'])
  })

  test('a plain SET search_path by somebody else on the pool: a second once() is a duplicate', async () => {
    const charge = () => once(shared.store, { handler: 'charge', key: 'k1' }, (tx) => tag(tx, 'k1', 'home.tags'))
    expect((await charge()).status).toBe('processed')
    for (const path of ['tenant_a', 'tenant_b, home', 'pg_catalog']) {
      await shared.query(`SET search_path TO ${path}`)
      expect((await charge()).status).toBe('duplicate')
      expect(await recordOf(shared.store, { handler: 'charge', key: 'k1' })).toMatchObject({ state: 'processed' })
    }
    expect(await elsewhere()).toEqual([])
  })

  test('a store that is first used in a session elsewhere takes no other tables than the next process', async () => {
    const charge = (on: SharedPool) => once(on.store, { handler: 'charge', key: 'k1' }, (tx) => on.run(tx, 'SELECT 1'))
    await shared.query('SET search_path TO tenant_a')
    await expect(charge(shared)).rejects.toMatchObject({
      code: 'STORE_DENIED',
      message: expect.stringMatching(/tenant_a.*home.*schema/),
    })
    expect(await elsewhere()).toEqual([])
    await shared.query('RESET search_path')
    expect((await charge(shared)).status).toBe('processed')

    const another = open({ url })
    expect((await charge(another)).status).toBe('duplicate')
    await another.close()
  })

  test('nor does one that is first used in a transaction of a tenant', async () => {
    const pool = newPool({ url })
    const client = await pool.connect()
    try {
      await client.query('BEGIN; SET LOCAL search_path TO tenant_b')
      const joined = postgresStore({ pool, listen: false }).within(client)
      const charged = once(joined, { handler: 'charge', key: 'k1' }, () => 1)
      await expect(charged).rejects.toMatchObject({
        code: 'STORE_DENIED',
        message: expect.stringMatching(/tenant_b.*home.*schema/),
      })
    } finally {
      client.release(true)
      await pool.end()
    }
    expect(await elsewhere()).toEqual([])
  })

  test('SET LOCAL ROLE in a handler: it and its neighbours are recorded and parked', async () => {
    await handle(['m1', 'm2', 'm3'], async (id, tx) => {
      if (id === 'm1' || id === 'm3') await shared.run(tx, 'SET LOCAL ROLE justonce_nobody')
      const [row] = await shared.run(tx, 'SELECT current_user AS who')
      await tag(tx, `${id} ${row!.who === 'justonce_nobody'}`)
      if (id === 'm3') throw new Error('no')
    })
    expect(await tags('home')).toEqual(['m1 true', 'm2 false'])
    expect(await rowsOf('home.justonce_parked')).toMatchObject([{ key: 'm3' }])
  })

  test('SET LOCAL of a setting of the application does not reach the next message', async () => {
    const seen: unknown[] = []
    await handle(['m1', 'm2', 'm3'], async (id, tx) => {
      const [row] = await shared.run(tx, `SELECT current_setting('app.tenant', true) AS tenant`)
      seen.push(row!.tenant || null)
      if (id === 'm1') await shared.run(tx, `SET LOCAL app.tenant = 'one'`)
      if (id === 'm2') await shared.run(tx, `SELECT set_config('app.tenant', 'two', true)`)
    })
    expect(seen).toEqual([null, null, null])
  })

  test.each(['SET search_path TO tenant_a', `SET app.tenant = 'x'`, `SELECT set_config('role', 'none', false)`])(
    '%s in a handler is refused by name',
    async (text) => {
      const errors: unknown[] = []
      await handle(['m1'], async (_, tx) => {
        await shared.run(tx, text).catch((error) => errors.push(error))
        await tag(tx, 'm1')
      })
      expect(errors).toMatchObject([{ code: 'TX_CONTROL', message: expect.stringMatching(/SET|set_config/) }])
      expect(await tags('home')).toEqual(['m1'])
    },
  )

  test('a temporary table that is left in the session hides neither a table of the user nor one of ours', async () => {
    await shared.store.schema.check()
    await shared.query('CREATE TEMP TABLE tags (note text)')
    await shared.query('CREATE TEMP TABLE justonce_parked (note text)')
    await handle(['m2', 'm3'], async (id, tx) => {
      await tag(tx, id)
      if (id === 'm3') throw new Error('no')
    })
    expect(await tags('home')).toEqual(['m2'])
    expect(await rowsOf('home.justonce_parked')).toMatchObject([{ key: 'm3' }])
  })

  test.each(['SET default_transaction_read_only = on', 'SET ROLE justonce_nobody'])(
    '%s by somebody else on the pool: everything is handled',
    async (text) => {
      await shared.store.schema.check()
      await shared.query(text)
      await handle(['m1', 'm2'], (id, tx) => tag(tx, id))
      expect(await tags('home')).toEqual(['m1', 'm2'])
      expect(await countParked(shared.store)).toBe(0)
    },
  )
})
