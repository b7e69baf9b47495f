import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'
import { claim, request } from '../../src/testing/sample-records.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { fillStore, tenDaysAgo } from './fill-store.ts'
import { newColumn, newTable, nextSqlite } from './next-version.ts'
import { upgradeAtOnce } from './upgrade-at-once.ts'

type Rows = Readonly<Record<string, readonly Record<string, unknown>[]>>

async function openFilled() {
  const folder = scratchFolder()
  const path = folder.file('app.db')
  const store: SqliteStore<DatabaseSync> = sqliteStore({ path })
  const outside = new DatabaseSync(path)
  onTestFinished(async () => {
    await store.close()
    outside.close()
    folder.remove()
  })
  await store.schema.install()
  await fillStore(store)
  const rows = (): Rows => {
    const names = outside.prepare(`SELECT name FROM sqlite_schema WHERE name LIKE 'justonce%' AND type = 'table'`).all()
    const all = (name: unknown) => outside.prepare(`SELECT * FROM ${name}`).all()
    return Object.fromEntries(names.map(({ name }) => [name, all(name)]))
  }
  return { path, store, rows, open: () => new DatabaseSync(path) }
}

const withoutNews = ({ [newTable]: _, ...tables }: Rows): Rows =>
  Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.filter((row) => row.name !== 'schema_version').map(({ [newColumn]: _, ...row }) => row),
    ]),
  )

test('every table has rows before the upgrade, or it would prove nothing', async () => {
  const { rows } = await openFilled()
  const empty = Object.entries(rows()).filter(([, of]) => of.length === 0)
  expect(empty.map(([name]) => name).filter((name) => name !== 'justonce_seal')).toEqual([])
})

test('two processes upgrade at once: all rows are kept, and the old code refuses the new tables', async () => {
  const { path, store, rows } = await openFilled()
  const before = rows()
  expect(await upgradeAtOnce('upgrade-sqlite', [path])).toEqual([0, 0])
  const after = rows()
  expect(withoutNews(after)).toEqual(withoutNews(before))
  expect(after[newTable]).toEqual([{ name: 'made once' }])
  expect(after.justonce_inbox?.map((row) => row[newColumn])).toEqual([7, 7, 7, 7])
  expect(after.justonce_meta).toContainEqual({ name: 'schema_version', value: '2' })
  await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
  await expect(store.schema.install()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
})

test('a process of the old version that is still running goes on to recognise duplicates', async () => {
  const { store, open } = await openFilled()
  const next = nextSqlite(open)
  await expect(next.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_OLD' })
  await next.schema.install()
  next.close()
  expect((await store.transaction((tx) => claim(store, tx, 'timeless')))?.result).toBe('{"so":"ß"}')
  const old = { ...request('old'), born: tenDaysAgo }
  const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [old]))
  expect(existing[0]?.state).toBe('processed')
  expect(await store.transaction((tx) => claim(store, tx, 'new'))).toBeUndefined()
})

test('an upgrade that fails in the middle has changed nothing', async () => {
  const { store, rows, open } = await openFilled()
  const before = rows()
  const next = nextSqlite(open, 'INSERT INTO justonce_nowhere VALUES (1);')
  await expect(next.schema.install()).rejects.toThrow()
  next.close()
  expect(rows()).toEqual(before)
  await store.schema.check()
})
