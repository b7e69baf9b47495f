import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '../src/stores/sqlite/index.ts'
import type { Bank } from './bank.ts'

export function openSqliteBank({ path }: { readonly path: string }): Bank<DatabaseSync> {
  const store = sqliteStore({ path })
  let reader: DatabaseSync | undefined
  return {
    store,
    async run(tx, sql, values = []) {
      tx.prepare(inSqlite(sql)).run(...values)
    },
    async read(sql) {
      reader ??= new DatabaseSync(path, { readOnly: true, timeout: 5_000 })
      return reader.prepare(inSqlite(sql)).all()
    },
    async close() {
      reader?.close()
      await store.close()
    },
  }
}

/** SQLite writes ?1 where Postgres writes $1. */
function inSqlite(sql: string): string {
  return sql.replaceAll('$', '?')
}
