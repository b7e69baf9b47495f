import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { once } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { parkedMessage, recordOf } from '../../src/testing/sample-records.ts'
import { keysOf, park, reserve } from '../../src/testing/store-cases/parked-rows.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'
import { newPool } from './pg-context.ts'

const server = await requireServer('postgres')

/** The clients send and read UTF-8, whatever a session says: the server would take the bytes of `é` for two other characters. */
describe.skipIf(!server.available).each(poolsOf)('$client: sessions in another encoding', ({ open }) => {
  let admin: ReturnType<typeof newPool>
  let shared: SharedPool
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    admin = newPool({ url })
    await admin.query('CREATE TABLE tags (note text NOT NULL)')
    shared = open({ url })
    await shared.store.schema.install()
  })
  afterEach(async () => {
    await shared.close()
    await admin.end()
  })

  const speak = (encoding: 'LATIN1' | 'UTF8') => shared.query(`SET client_encoding = '${encoding}'`)
  const tag = (tx: unknown) => shared.run(tx, `INSERT INTO tags VALUES ('Öl')`)
  const tags = async () => (await admin.query('SELECT note FROM tags')).rows.map(({ note }) => note)
  const key = { handler: 'tag-note', key: 'clé' }

  test('a key is the same key in every session, and what a handler writes is what it meant', async () => {
    for (const [encoding, status] of [
      ['LATIN1', 'processed'],
      ['UTF8', 'duplicate'],
      ['LATIN1', 'duplicate'],
    ] as const) {
      await speak(encoding)
      expect(await once(shared.store, key, tag)).toMatchObject({ status })
      expect(await recordOf(shared.store, key)).toMatchObject({ state: 'processed' })
    }
    expect(await tags()).toEqual(['Öl'])
  })

  test('so it is in a transaction of the application', async () => {
    await once(shared.store, key, tag)
    await shared.store.transaction(async (tx) => {
      await shared.run(tx, `SET LOCAL client_encoding = 'LATIN1'`)
      expect(await once(shared.store.within(tx), key, tag)).toMatchObject({ status: 'duplicate' })
    })
    expect(await tags()).toEqual(['Öl'])
  })

  test('a parked message is reserved under its own key, and once', async () => {
    await park(shared.store, parkedMessage(key.key))
    await speak('LATIN1')
    expect(keysOf(await reserve(shared.store, { limit: 5 }))).toEqual([key.key])
    expect(keysOf(await reserve(shared.store, { limit: 5 }))).toEqual([])
  })
})

describe.skipIf(!server.available)('pg: a pool that has connected before the store is made', () => {
  const key = { handler: 'tag-note', key: 'clé' }

  test.for(['before', 'after'])('its encoding is changed %s that: a key is the same key', async (when) => {
    const url = await createDatabase(server.url)
    const admin = newPool({ url })
    const first = postgresStore({ pool: admin, listen: false })
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    onTestFinished(async () => {
      await first.close()
      await Promise.all([pool.end(), admin.end()])
    })
    await first.schema.install()
    await once(first, key, () => {})
    const change = () => pool.query(`SET client_encoding = 'LATIN1'`)
    await (when === 'before' ? change() : pool.query('SELECT 1'))
    const store = postgresStore({ pool, listen: false })
    onTestFinished(() => store.close())
    // Whoever has seen this session in our encoding must hear of the change.
    if (when === 'after') {
      expect(await recordOf(store, key)).toMatchObject({ state: 'processed' })
      await change()
    }
    for (let look = 0; look < 3; look++) expect(await recordOf(store, key)).toMatchObject({ state: 'processed' })
  })
})
