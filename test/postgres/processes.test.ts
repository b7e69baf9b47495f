import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { startChild } from './child.ts'
import { effectTables, newPool, newSchema } from './pg-context.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('several processes on one Postgres', () => {
  let url: string
  let pool: pg.Pool
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    pool = newPool({ url })
  })
  afterAll(() => pool.end())

  test('ten that install at once: all succeed, and the tables are there once', async () => {
    const schema = newSchema()
    const children = Array.from({ length: 10 }, () => startChild('install', [url, schema]))
    await Promise.all(children.map((child) => child.said('ready')))
    for (const child of children) child.process.stdin?.write('go\n')
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(children.map(() => 0))
    await postgresStore({ pool, schema, listen: false }).schema.check()
    const records = await pool.query(`SELECT count(*)::int AS n FROM ${schema}.justonce_inbox`)
    expect(records.rows).toEqual([{ n: 1 }])
  }, 60_000)

  test('one that is frozen in a transaction is ended by the database, and a rival gets the claim', async () => {
    const schema = newSchema()
    const store = postgresStore({ pool, schema })
    await store.schema.install()
    await pool.query(effectTables(schema))
    const frozen = startChild('hold-claim', [url, schema, '1000'])
    onTestFinished(() => void frozen.process.kill('SIGKILL'))
    await frozen.said('holding')
    frozen.process.kill('SIGSTOP')
    const claim = () =>
      store.transaction((tx) => store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }]), {
        lockTimeoutMs: 20_000,
      })
    expect((await claim()).existing).toEqual([undefined])
    expect((await claim()).existing).toMatchObject([{ state: 'processed' }])
    expect((await pool.query(`SELECT * FROM ${schema}.effects`)).rows).toEqual([])
  }, 60_000)
})
