import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { claim, request } from '../../src/testing/sample-records.ts'
import { newPool, newSchema } from '../postgres/pg-context.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { fillStore, tenDaysAgo } from './fill-store.ts'
import { newColumn, newTable, nextPostgres } from './next-version.ts'
import { upgradeAtOnce } from './upgrade-at-once.ts'

type Rows = Readonly<Record<string, readonly Record<string, unknown>[]>>

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('an upgrade of the tables in Postgres', () => {
  let url: string
  let pool: pg.Pool
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    pool = newPool({ url })
  })
  afterAll(() => pool.end())

  async function openFilled() {
    const schema = newSchema()
    const store = postgresStore({ pool, schema, listen: false })
    await store.schema.install()
    await fillStore(store)
    const rows = async (): Promise<Rows> => {
      const { rows: tables } = await pool.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
        [schema],
      )
      const found: Record<string, Record<string, unknown>[]> = {}
      for (const { name } of tables)
        found[name] = (await pool.query(`SELECT * FROM ${schema}.${name} AS t ORDER BY t::text`)).rows
      return found
    }
    return { schema, store, rows }
  }

  const withoutNews = ({ [newTable]: _, ...tables }: Rows): Rows =>
    Object.fromEntries(
      Object.entries(tables).map(([name, rows]) => [
        name,
        rows.map(({ [newColumn]: _, ...row }) => (name === 'justonce_meta' ? { ...row, version: 0 } : row)),
      ]),
    )

  test('every table has rows before the upgrade, or it would prove nothing', async () => {
    const { rows } = await openFilled()
    const empty = Object.entries(await rows()).filter(([, of]) => of.length === 0)
    expect(empty.map(([name]) => name).filter((name) => name !== 'justonce_seal')).toEqual([])
  })

  test('two processes upgrade at once: all rows are kept, and the old code refuses the new tables', async () => {
    const { schema, store, rows } = await openFilled()
    const before = await rows()
    expect(await upgradeAtOnce('upgrade-postgres', [url, schema])).toEqual([0, 0])
    const after = await rows()
    expect(withoutNews(after)).toEqual(withoutNews(before))
    expect(after[newTable]).toEqual([{ name: 'made once' }])
    expect(after.justonce_inbox?.map((row) => row[newColumn])).toEqual([7, 7, 7, 7])
    expect(after.justonce_meta).toMatchObject([{ version: 2 }])
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
    await expect(store.schema.install()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
  })

  test('a process of the old version that is still running goes on to recognise duplicates', async () => {
    const { schema, store } = await openFilled()
    const next = nextPostgres(pool, schema)
    await expect(next.check()).rejects.toMatchObject({ code: 'SCHEMA_OLD' })
    await next.install()
    expect((await store.transaction((tx) => claim(store, tx, 'timeless')))?.result).toBe('{"so":"ß"}')
    const old = { ...request('old'), born: tenDaysAgo }
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [old]))
    expect(existing[0]?.state).toBe('processed')
    expect(await store.transaction((tx) => claim(store, tx, 'new'))).toBeUndefined()
  })

  test('an upgrade that fails in the middle has changed nothing', async () => {
    const { schema, store, rows } = await openFilled()
    const before = await rows()
    await expect(nextPostgres(pool, schema, 'INSERT INTO nowhere VALUES (1);').install()).rejects.toThrow()
    expect(await rows()).toEqual(before)
    await store.schema.check()
  })
})
