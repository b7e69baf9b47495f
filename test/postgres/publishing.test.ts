import pg from 'pg'
import postgresJs from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('app.publish in a transaction of the caller', () => {
  let pool: pg.Pool
  let sql: postgresJs.Sql
  beforeAll(async () => {
    const url = await createDatabase(postgres.url)
    pool = new pg.Pool({ connectionString: url })
    sql = postgresJs(url)
    await postgresStore({ pool }).schema.install()
  })
  afterAll(async () => {
    await pool.end()
    await sql.end()
  })

  test('of pg: a pool and an idle client are refused', async () => {
    const store = postgresStore({ pool })
    const app = justonce({ store, to: memoryTransport({ name: 'pg' }) })
    const client = await pool.connect()
    try {
      await expect(app.publish('note.tagged', {}, { tx: pool as never })).rejects.toThrow(
        'tx is a pool of pg, but must',
      )
      await expect(app.publish('note.tagged', {}, { tx: client })).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
      expect(await store.queue.count('>pg')).toMatchObject({ ready: 0 })
      await client.query('BEGIN')
      await app.publish('note.tagged', {}, { tx: client })
      expect(await store.queue.count('>pg')).toMatchObject({ ready: 0 })
      await client.query('COMMIT')
      expect(await store.queue.count('>pg')).toMatchObject({ ready: 1 })
    } finally {
      client.release()
      await store.close()
    }
  })

  test('of postgres.js: a sql outside of begin is refused', async () => {
    const store = postgresStore({ sql })
    const app = justonce({ store, to: memoryTransport({ name: 'js' }) })
    const outside = app.publish('note.tagged', {}, { tx: sql as never })
    await expect(outside).rejects.toMatchObject({ code: 'TX_NOT_OPEN' })
    expect(await store.queue.count('>js')).toMatchObject({ ready: 0 })
    await sql.begin((tx) => app.publish('note.tagged', {}, { tx: tx as never }))
    expect(await store.queue.count('>js')).toMatchObject({ ready: 1 })
    await store.close()
  })
})
