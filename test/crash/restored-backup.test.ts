import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../src/contracts/index.ts'
import { hotSide as hintsOf } from '../../src/hints/index.ts'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { startMariadb } from '../servers/mariadb.ts'
import type { OwnServer } from '../servers/own-server.ts'
import { startPostgres } from '../servers/postgres.ts'
import { requireBinaries } from '../servers/require.ts'
import { hotSide } from './hot-side.ts'
import './long-tests.ts'

/** A database whose files can be kept and put back, as a snapshot of a disk is. */
interface Place {
  open(): { readonly store: Store; write(tx: unknown, id: string): Promise<unknown>; close(): Promise<void> }
  effects(): Promise<string[]>
  /** Whatever runs meanwhile sees the database go away and come back. */
  backUp(): Promise<void>
  restore(): Promise<void>
  remove(): Promise<void>
}

const [postgres, mariadb] = [await requireBinaries('postgres'), await requireBinaries('mariadb')]

/** The data folder of a server that was killed is what a snapshot of its disk would hold. */
function folders(server: OwnServer): Pick<Place, 'backUp' | 'restore'> {
  let startedAt = 0
  const data = join(server.folder, 'data')
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])
  return {
    async backUp() {
      await server.kill9()
      copy(data, `${data}-kept`)
      await server.restart()
      startedAt = Date.now()
    },
    async restore() {
      await server.kill9()
      rmSync(data, { recursive: true })
      copy(`${data}-kept`, data)
      // MySQL knows when it was started to the second, and nobody restores a backup faster than that.
      const second = (at: number) => Math.floor(at / 1_000)
      await expect.poll(() => second(Date.now()), { timeout: 5_000 }).toBeGreaterThan(second(startedAt))
      await server.restart()
    },
  }
}

async function onPostgres(): Promise<Place> {
  const server = await startPostgres()
  const url = await server.createDatabase()
  const pool = () => new pg.Pool({ connectionString: url, max: 4 }).on('error', () => {})
  const admin = pool()
  await admin.query('CREATE TABLE effects (id text NOT NULL)')
  return {
    ...folders(server),
    open() {
      const own = pool()
      const write = (tx: unknown, id: string) => (tx as pg.PoolClient).query('INSERT INTO effects VALUES ($1)', [id])
      return { store: postgresStore({ pool: own }) as unknown as Store, write, close: () => own.end() }
    },
    effects: async () =>
      (await admin.query<{ id: string }>('SELECT id FROM effects ORDER BY id')).rows.map((row) => row.id),
    async remove() {
      await admin.end()
      await server.stop()
    },
  }
}

async function onMariadb(): Promise<Place> {
  const server = await startMariadb()
  const url = await server.createDatabase()
  const pool = () => mysql.createPool({ uri: url, connectionLimit: 4 })
  const admin = pool()
  await admin.query('CREATE TABLE effects (id varchar(99) NOT NULL)')
  return {
    ...folders(server),
    open() {
      const own = pool()
      const write = (tx: unknown, id: string) =>
        (tx as mysql.PoolConnection).query('INSERT INTO effects VALUES (?)', [id])
      return { store: mysqlStore({ pool: own }) as unknown as Store, write, close: () => own.end() }
    },
    async effects() {
      const [rows] = await admin.query<mysql.RowDataPacket[]>('SELECT id FROM effects ORDER BY id')
      return rows.map(({ id }) => id as string)
    },
    async remove() {
      await admin.end()
      await server.stop()
    },
  }
}

async function onSqlite(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-restored-'))
  const path = join(folder, 'app.db')
  const using = <T>(look: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(path)
    try {
      return look(database)
    } finally {
      database.close()
    }
  }
  using((database) => database.exec('CREATE TABLE effects (id text NOT NULL)'))
  return {
    open() {
      const store = sqliteStore({ path })
      const write = async (tx: unknown, id: string) =>
        (tx as DatabaseSync).prepare('INSERT INTO effects VALUES (?)').run(id)
      return { store: store as unknown as Store, write, close: () => store.close() }
    },
    effects: async () =>
      using((database) =>
        database
          .prepare('SELECT id FROM effects ORDER BY id')
          .all()
          .map(({ id }) => String(id)),
      ),
    async backUp() {
      using((database) => database.exec(`VACUUM INTO '${join(folder, 'kept.db')}'`))
    },
    // Into the same file: nothing but its content tells.
    restore: async () => copyFileSync(join(folder, 'kept.db'), path),
    remove: async () => rmSync(folder, { recursive: true }),
  }
}

const ids = ['m1', 'm2', 'm3', 'm4']

describe.each([
  { name: 'SQLite', isMissing: false, start: onSqlite, goesAway: false },
  { name: 'Postgres', isMissing: !postgres.available, start: onPostgres, goesAway: true },
  { name: 'MariaDB', isMissing: !mariadb.available, start: onMariadb, goesAway: true },
])('a backup of $name is restored', ({ isMissing, start, goesAway }) => {
  let place: Place
  beforeAll(async () => {
    if (!isMissing) place = await start()
  })
  afterAll(async () => place?.remove())

  const runs = [{ when: 'stopped', hot: 'a hot side that knows what is gone' }] as const
  const running = [{ when: 'running', hot: 'a hot side and a cache that know what is gone' }] as const

  test.skipIf(isMissing).each([...runs, ...(goesAway ? running : [])])(
    'while the app is $when, behind $hot: what is gone takes effect again',
    async ({ when }) => {
      const hot = hotSide()
      const prefix = `${when} `
      const open = async () => {
        const { store, write, close } = place.open()
        const transport = memoryTransport()
        const app = justonce({ store, hints: hintsOf({ client: hot }), transport, concurrency: 1 })
        app.on('note.created', 'tag-note', (message, { tx }) => write(tx, message.id) as Promise<void>)
        await app.start()
        const handle = async (some: readonly string[]): Promise<void> => {
          // One by one: the first claim tells the epoch, and the others are asked for on the hot side.
          for (const id of some) {
            transport.send([{ id: `${prefix}${id}`, type: 'note.created', body: {} }])
            await transport.idle()
          }
        }
        const stop = async () => {
          await app.stop()
          await close()
        }
        return { handle, stop }
      }
      let app = await open()
      await app.handle(['m1'])
      await place.backUp()
      await app.handle(ids)
      if (when === 'stopped') await app.stop()
      await place.restore()
      if (when === 'stopped') app = await open()
      // A new message, so that the app has heard from the database that it now talks to.
      await app.handle(['new', ...ids, ...ids])
      await app.stop()
      const ours = (await place.effects()).filter((id) => id.startsWith(prefix))
      expect(ours).toEqual([...ids, 'new'].map((id) => `${prefix}${id}`))
    },
  )
})
