import type { Pool, RowDataPacket } from 'mysql2/promise'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { claim, request } from '../../src/testing/sample-records.ts'
import { newPool } from '../mysql/mysql-context.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { fillStore, tenDaysAgo } from './fill-store.ts'
import { newColumn, newTable, nextMysql } from './next-version.ts'
import { upgradeAtOnce } from './upgrade-at-once.ts'

type Rows = Readonly<Record<string, readonly Record<string, unknown>[]>>

const mariadb = await requireServer('mariadb')

describe.skipIf(!mariadb.available)('an upgrade of the tables in MySQL', () => {
  async function openFilled() {
    const url = await createMysqlDatabase(mariadb.url)
    const pool: Pool = newPool({ url })
    onTestFinished(() => pool.end())
    const store = mysqlStore({ pool })
    await store.schema.install()
    await fillStore(store)
    const scope = { handler: 'tag-note', orderKey: 'k1', pastDead: false }
    await store.transaction((tx) => store.parking.blocked(tx, [scope]))
    const rows = async (): Promise<Rows> => {
      const [tables] = await pool.query<RowDataPacket[]>('SHOW TABLES')
      const found: Record<string, Record<string, unknown>[]> = {}
      for (const name of tables.flatMap((row) => Object.values(row) as string[]))
        found[name] = (await pool.query<RowDataPacket[]>(`SELECT * FROM ${name}`))[0]
      return found
    }
    return { url, pool, store, rows }
  }

  const withoutNews = ({ [newTable]: _, ...tables }: Rows): Rows =>
    Object.fromEntries(
      Object.entries(tables).map(([name, rows]) => [
        name,
        rows.map(({ [newColumn]: _, ...row }) => (name === 'justonce_meta' ? { ...row, version: 0 } : { ...row })),
      ]),
    )

  test('every table has rows before the upgrade, or it would prove nothing', async () => {
    const { rows } = await openFilled()
    const empty = Object.entries(await rows()).filter(([, of]) => of.length === 0)
    expect(empty.map(([name]) => name)).toEqual([])
  })

  test('two processes upgrade at once: all rows are kept, and the old code refuses the new tables', async () => {
    const { url, store, rows } = await openFilled()
    const before = await rows()
    expect(await upgradeAtOnce('upgrade-mysql', [url])).toEqual([0, 0])
    const after = await rows()
    expect(withoutNews(after)).toEqual(withoutNews(before))
    expect(after[newTable]).toEqual([{ name: 'made once' }])
    expect(after.justonce_inbox?.map((row) => row[newColumn])).toEqual([7, 7, 7, 7])
    expect(after.justonce_meta).toMatchObject([{ version: 2 }])
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
    await expect(store.schema.install()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
  })

  test('a process of the old version that is still running goes on to recognise duplicates', async () => {
    const { pool, store } = await openFilled()
    const next = nextMysql(pool)
    await expect(next.check()).rejects.toMatchObject({ code: 'SCHEMA_OLD' })
    await next.install()
    expect((await store.transaction((tx) => claim(store, tx, 'timeless')))?.result).toBe('{"so":"ß"}')
    const old = { ...request('old'), born: tenDaysAgo }
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [old]))
    expect(existing[0]?.state).toBe('processed')
    expect(await store.transaction((tx) => claim(store, tx, 'new'))).toBeUndefined()
  })

  test('an upgrade that fails in the middle keeps all rows and the old version, and can be run again', async () => {
    const { pool, store, rows } = await openFilled()
    const before = await rows()
    await expect(nextMysql(pool, 'INSERT INTO nowhere VALUES (1)').install()).rejects.toThrow()
    expect(withoutNews(await rows())).toEqual(withoutNews(before))
    await store.schema.check()
    expect(await store.transaction((tx) => claim(store, tx, 'meanwhile'))).toBeUndefined()
    await nextMysql(pool).install()
    expect((await rows())[newTable]).toEqual([{ name: 'made once' }])
    expect((await store.transaction((tx) => claim(store, tx, 'meanwhile')))?.state).toBe('processed')
  })
})
