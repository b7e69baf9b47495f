import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type SqliteDatabase, type SqliteStore, sqliteStore } from '../../stores/sqlite/index.ts'
import type { ScratchCopy, ScratchDatabase } from './scratch.ts'
import { readSqliteFacts, readSqliteTables } from './sqlite-tables.ts'

/**
 * Scratch databases in SQLite files, in memory if the system has such a folder. Nothing needs to be installed.
 *
 * @example
 * scratchSqlite()                                              // tx is a DatabaseSync of node:sqlite
 * scratchSqlite({ open: (path) => new BetterSqlite3(path) })   // tx is a Database of better-sqlite3
 */
export function scratchSqlite(): ScratchDatabase<SqliteStore<DatabaseSync>>
export function scratchSqlite<Database extends SqliteDatabase>(options: {
  open(path: string): Database
}): ScratchDatabase<SqliteStore<Database>>
export function scratchSqlite(
  options: { open(path: string): SqliteDatabase } = { open: openNative },
): ScratchDatabase<SqliteStore<SqliteDatabase>> {
  return {
    name: 'sqlite',
    async prepare(setup) {
      const folder = mkdtempSync(join(scratchFolder(), 'justonce-prove-'))
      try {
        const content = await makeTemplate(join(folder, 'template.db'), options.open, setup)
        let copies = 0
        return {
          async fresh() {
            const path = join(folder, `copy-${++copies}.db`)
            writeFileSync(path, content)
            return copyAt(path, options.open)
          },
          async remove() {
            rmSync(folder, { recursive: true, force: true })
          },
        }
      } catch (error) {
        rmSync(folder, { recursive: true, force: true })
        throw error
      }
    },
  }
}

type Open = (path: string) => SqliteDatabase

async function makeTemplate(
  path: string,
  open: Open,
  setup: (db: SqliteDatabase, place: { url: string }) => unknown,
): Promise<Uint8Array> {
  const store = sqliteStore({ path, open })
  await store.schema.install()
  await store.close()
  const database = open(path)
  try {
    await setup(database, { url: path })
  } finally {
    // The last connection that closes moves everything into the main file.
    database.close()
  }
  return readFileSync(path)
}

function copyAt(path: string, open: Open): ScratchCopy<SqliteStore<SqliteDatabase>> {
  const use = async <T>(work: (db: SqliteDatabase, place: { url: string }) => T): Promise<Awaited<T>> => {
    const database = open(path)
    try {
      return await work(database, { url: path })
    } finally {
      database.close()
    }
  }
  return {
    place: { url: path },
    async openStore() {
      const store = sqliteStore({ path, open })
      return { store, close: () => store.close() }
    },
    use,
    tables: () => use(readSqliteTables),
    facts: () => use(readSqliteFacts),
    async remove() {
      for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true })
    },
  }
}

function openNative(path: string): DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  return new DatabaseSync(path)
}

/** If every commit were written through to a disk, a proof would be several times slower. */
function scratchFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
}
