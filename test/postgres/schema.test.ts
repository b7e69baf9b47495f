import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newPool, newSchema } from './pg-context.ts'

const postgres = await requireServer('postgres')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

describe.skipIf(!postgres.available)('the tables', () => {
  let pool: pg.Pool
  beforeAll(async () => {
    pool = newPool({ url: await createDatabase(postgres.url) })
  })
  afterAll(() => pool.end())

  const openStore = () => {
    const schema = newSchema()
    return { schema, store: postgresStore({ pool, schema, listen: false }) }
  }

  test('missing ones are named by check() and by everything else', async () => {
    const { store } = openStore()
    const missing = { code: 'SCHEMA_MISSING' }
    await expect(store.schema.check()).rejects.toMatchObject(missing)
    await expect(store.transaction((tx) => store.inbox.claim(tx, [request]))).rejects.toMatchObject(missing)
    await expect(recordOf(store, request)).rejects.toMatchObject(missing)
    await expect(store.ping()).rejects.toMatchObject(missing)
  })

  test('newer ones are refused, older ones are named and brought up to date', async () => {
    const { schema, store } = openStore()
    await store.schema.install()
    const setVersion = (version: number) => pool.query(`UPDATE ${schema}.justonce_meta SET version = ${version}`)
    await setVersion(99)
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
    await expect(store.schema.install()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })

    const others = await pool.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname = $1 AND tablename NOT IN ('justonce_meta', 'justonce_inbox_timeless')`,
      [schema],
    )
    await pool.query(`DROP TABLE ${others.rows.map(({ name }) => name).join(', ')}`)
    await setVersion(0)
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
    await store.schema.install()
    await store.schema.check()
    expect((await store.transaction((tx) => store.inbox.claim(tx, [request]))).existing).toEqual([undefined])
  })

  test('an installation that fails leaves nothing half done', async () => {
    const { schema, store } = openStore()
    await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.justonce_queue (in_the_way int)`)
    await expect(store.schema.install()).rejects.toMatchObject({ code: '42P07' })
    const { rows } = await pool.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema])
    expect(rows).toEqual([{ tablename: 'justonce_queue' }])
    await pool.query(`DROP TABLE ${schema}.justonce_queue`)
    await store.schema.install()
    await store.schema.check()
  })

  test('what is printed can be run by hand, and is what install() would have done', async () => {
    const { store, schema } = openStore()
    await pool.query(store.schema.print())
    await store.schema.check()
    await store.schema.install()
    expect((await store.transaction((tx) => store.inbox.claim(tx, [request]))).existing).toEqual([undefined])
    const installed = openStore()
    await installed.store.schema.install()
    expect(await tablesOf(schema)).toEqual(await tablesOf(installed.schema))
    expect(await tablesOf(schema)).toContain('justonce_inbox_timeless')
  })

  test('a role that may not create anything can use what is there', async () => {
    const { schema, store } = openStore()
    await store.schema.install()
    await pool.query(`
      CREATE ROLE ${schema} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO ${schema};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
    const modest = newPool({ url: poolUrlAs(schema), pool: { max: 2 } })
    const theirs = postgresStore({ pool: modest, schema, listen: false })
    await theirs.schema.install()
    expect((await theirs.transaction((tx) => theirs.inbox.claim(tx, [request]))).existing).toEqual([undefined])
    await theirs.queue.send(undefined, 'notes', [
      { message: { envelope: new Uint8Array(), body: new Uint8Array() }, key: 'k1' },
    ])
    expect(await theirs.transaction((tx) => theirs.inbox.forget(tx, [request]))).toBe(1)
    await modest.end()
    await pool.query(`DROP OWNED BY ${schema}; DROP ROLE ${schema}`)
  })

  async function tablesOf(schema: string): Promise<string[]> {
    const text = 'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 ORDER BY 1'
    return (await pool.query<{ name: string }>(text, [schema])).rows.map(({ name }) => name)
  }

  function poolUrlAs(role: string): string {
    const url = new URL(pool.options.connectionString ?? '')
    url.username = role
    return url.href
  }
})
