import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type SqliteDatabase, type SqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'

/** What both libraries have, typed as the tests use it. */
export interface TestDatabase extends SqliteDatabase {
  exec(sql: string): unknown
}

/** It comes without types. */
export const BetterSqlite3 = createRequire(import.meta.url)('better-sqlite3') as new (path: string) => TestDatabase

export interface Library {
  readonly name: string
  open(path: string): TestDatabase
  store(options: { path: string; busyTimeoutMs?: number }): SqliteStore<TestDatabase>
  /** A store whose native connections, the one that writes first, can be reached past the guard. */
  storeOn(path: string, opened: (database: TestDatabase) => void, busyTimeoutMs?: number): SqliteStore<TestDatabase>
}

export const libraries: readonly Library[] = [
  {
    name: 'node:sqlite',
    open: (path) => new DatabaseSync(path),
    store: (options) => sqliteStore(options) as unknown as SqliteStore<TestDatabase>,
    storeOn: (path, opened, busyTimeoutMs) =>
      sqliteStore({ path, open: tapped((file) => new DatabaseSync(file), opened), busyTimeoutMs }),
  },
  {
    name: 'better-sqlite3',
    open: (path) => new BetterSqlite3(path),
    store: (options) => sqliteStore<TestDatabase>({ ...options, open: (path) => new BetterSqlite3(path) }),
    storeOn: (path, opened, busyTimeoutMs) =>
      sqliteStore({ path, open: tapped((file) => new BetterSqlite3(file), opened), busyTimeoutMs }),
  },
]

function tapped(open: (path: string) => TestDatabase, opened: (database: TestDatabase) => void) {
  return (path: string): TestDatabase => {
    const database = open(path)
    opened(database)
    return database
  }
}

/** A folder of its own for each test. */
export function scratchFolder(): { readonly path: string; file(name: string): string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'justonce-sqlite-'))
  return { path, file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) }
}
