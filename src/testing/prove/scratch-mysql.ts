import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { JustonceError } from '../../errors/index.ts'
import type { MysqlConnectionShape, MysqlPromisePoolShape } from '../../stores/mysql/client-shapes.ts'
import { type MysqlStore, mysqlStore } from '../../stores/mysql/index.ts'
import {
  type AskMysql,
  isOwn,
  mysqlTablesToCopy,
  readMysqlFacts,
  readMysqlTables,
  type TableToCopy,
} from './mysql-tables.ts'
import type { ScratchCopy, ScratchDatabase, ScratchPlace } from './scratch.ts'

/** A pool of `mysql2/promise` that can be ended. */
export interface MysqlPoolToEnd<Connection extends MysqlConnectionShape> extends MysqlPromisePoolShape<Connection> {
  end(): Promise<unknown>
}

/** What `scratchMysql()` takes. */
export interface ScratchMysqlOptions<Connection extends MysqlConnectionShape> {
  /** A MySQL or MariaDB in which you may create databases and see who waits (the PROCESS privilege). */
  readonly url: string
  /** Opens a pool of `mysql2/promise`: `(url) => mysql.createPool(url)`. */
  connect(url: string): MysqlPoolToEnd<Connection>
}

const lookAgainMs = 120

/** One for each of two processes, one to observe them, and one to spare for handlers that open their own. */
const connectionsNeeded = 4

/**
 * Scratch databases in your MySQL or MariaDB, dropped at the end. Nothing else is touched.
 *
 * @example
 * scratchMysql({ url: process.env.DATABASE_URL, connect: (url) => mysql.createPool(url) })
 */
export function scratchMysql<Connection extends MysqlConnectionShape>({
  url,
  connect,
}: ScratchMysqlOptions<Connection>): ScratchDatabase<MysqlStore<Connection>> {
  return {
    name: 'mysql',
    async prepare(setup) {
      const database = `justonce_prove_${randomBytes(4).toString('hex')}`
      const kept = `${database}_kept`
      const admin = connect(url)
      const askAdmin = asking(admin)
      const place = { url: inDatabase(url, database) }
      const pool = connect(place.url)
      const remove = async (): Promise<void> => {
        try {
          for (const each of [database, kept]) await askAdmin('DROP DATABASE IF EXISTS ??', [each])
        } finally {
          await Promise.all([pool.end(), admin.end()])
        }
      }
      try {
        for (const each of [database, kept]) await askAdmin('CREATE DATABASE ??', [each])
        checkPool(mysqlStore({ pool }).capabilities.connections)
        await mysqlStore({ pool }).schema.install()
        await lending(pool, (connection) => setup(connection as never, place))
        const tables = await mysqlTablesToCopy(asking(pool))
        for (const table of tables) {
          await askAdmin('CREATE TABLE ??.?? LIKE ??.??', [kept, table.name, database, table.name])
          await copyRows(askAdmin, table, database, kept)
        }
        return {
          async fresh() {
            await lending(admin, (connection) => restore(askingOn(connection), { tables, database, kept }))
            return copyOf(pool, place, database)
          },
          remove,
        }
      } catch (error) {
        // The original error matters more than a failed cleanup.
        await remove().catch(() => {})
        throw error
      }
    },
  }
}

interface Kept {
  readonly tables: readonly TableToCopy[]
  readonly database: string
  readonly kept: string
}

/** Our own tables are only emptied: the store would take recreated tables for a restored backup. */
async function restore(ask: AskMysql, { tables, database, kept }: Kept): Promise<void> {
  await ask('SET foreign_key_checks = 0')
  for (const table of tables) {
    await ask(isOwn(table.name) ? 'DELETE FROM ??.??' : 'TRUNCATE TABLE ??.??', [database, table.name])
    await copyRows(ask, table, kept, database)
  }
  await ask('SET foreign_key_checks = 1')
}

async function copyRows(ask: AskMysql, { name, columns }: TableToCopy, from: string, to: string): Promise<void> {
  await ask('INSERT INTO ??.?? (??) SELECT ?? FROM ??.??', [to, name, columns, columns, from, name])
}

function copyOf<Connection extends MysqlConnectionShape>(
  pool: MysqlPoolToEnd<Connection>,
  place: ScratchPlace,
  database: string,
): ScratchCopy<MysqlStore<Connection>> {
  const ask = asking(pool)
  return {
    place,
    async openStore() {
      const store = mysqlStore({ pool })
      return { store, close: () => store.close() }
    },
    use: (work) => lending(pool, (connection) => work(connection as never, place)) as never,
    tables: () => readMysqlTables(ask),
    facts: () => readMysqlFacts(ask),
    async someoneWaits() {
      // This view is cached: within 100 ms of the last look, the server shows the old state again.
      await pause(lookAgainMs)
      const [row] = await ask(
        `SELECT COUNT(*) AS waiting FROM information_schema.innodb_trx t
           JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
           WHERE t.trx_state = 'LOCK WAIT' AND p.db = ?`,
        [database],
      )
      return Number(row?.waiting) > 0
    },
    async remove() {},
  }
}

async function lending<Connection extends MysqlConnectionShape, T>(
  pool: MysqlPromisePoolShape<Connection>,
  work: (connection: Connection) => T,
): Promise<Awaited<T>> {
  const connection = await pool.getConnection()
  try {
    return await work(connection)
  } finally {
    connection.release()
  }
}

function askingOn(connection: MysqlConnectionShape): AskMysql {
  return async (sql, values = []) => {
    // The user may have set something else for the whole pool.
    const how = { rowsAsArray: false, nestTables: false, typeCast: true, supportBigNumbers: true }
    return ((await connection.query({ ...how, sql, values: [...values] })) as [Record<string, unknown>[]])[0]
  }
}

function asking<Connection extends MysqlConnectionShape>(pool: MysqlPromisePoolShape<Connection>): AskMysql {
  return (sql, values) => lending(pool, (connection) => askingOn(connection)(sql, values))
}

function checkPool(connections: number): void {
  if (connections >= connectionsNeeded) return
  throw new JustonceError('POOL_TOO_SMALL', {
    message: `connect(url) of scratchMysql() made a pool of ${connections} connections, but prove() needs ${connectionsNeeded}.`,
  })
}

function inDatabase(url: string, database: string): string {
  const scratch = new URL(url)
  scratch.pathname = `/${database}`
  return scratch.href
}
