import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { fillStore } from './fill-store.ts'
import { nextSqlite } from './next-version.ts'
import { upgradeAtOnce } from './upgrade-at-once.ts'
import { type Filled, type Rows, upgradeCases } from './upgrade-cases.ts'

async function openFilled(): Promise<Filled<DatabaseSync>> {
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
  return {
    store,
    async rows(): Promise<Rows> {
      const names = outside
        .prepare(`SELECT name FROM sqlite_schema WHERE name LIKE 'justonce%' AND type = 'table'`)
        .all()
      const all = (name: unknown) => outside.prepare(`SELECT * FROM ${name}`).all()
      return Object.fromEntries(names.map(({ name }) => [name, all(name)]))
    },
    withoutVersion: ({ justonce_meta = [], ...tables }) => ({
      ...tables,
      justonce_meta: justonce_meta.map((row) => ({ ...row, version: 0 })),
    }),
    next(broken) {
      const { schema, close } = nextSqlite(
        () => new DatabaseSync(path),
        broken && 'INSERT INTO justonce_nowhere VALUES (1);',
      )
      onTestFinished(close)
      return schema
    },
    upgradeTwice: () => upgradeAtOnce('upgrade-sqlite', [path]),
  }
}

upgradeCases(openFilled, 'whole')
