import mysql, { type PoolConnection, type PoolOptions } from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import type { Store } from '../../src/contracts/index.ts'
import type { Table } from '../../src/patterns/index.ts'
import { mysqlStore } from '../../src/stores/mysql/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'
import { newDatabase } from '../mysql/mysql-context.ts'
import { newSchema } from '../postgres/pg-context.ts'
import { askMysql, mysqlDatabaseUrl } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { BetterSqlite3, type TestDatabase } from '../sqlite/open-sqlite.ts'

/** A database with the tables that the tests use. */
export interface Place {
  readonly store: Store<unknown>
  /** How the tests name a table there. */
  table(name: string): Table
  readonly dialect: 'sqlite' | 'postgres' | 'mysql'
  /** A transaction of the client's own, as a caller of the patterns without a store has it. It has its snapshot before the work begins. */
  transaction?<T>(isolation: string, work: (tx: unknown) => Promise<T>): Promise<T>
  /** Runs statements outside of any transaction; `{}` stands for what goes before the name of a table. */
  exec(sql: string): Promise<void>
  close(): Promise<void>
}

/** Of the client. For MySQL, `session` is a statement for each new connection. */
export type ClientOptions = pg.PoolConfig & postgres.Options<never> & PoolOptions & { readonly session?: string }

const mariadb = await requireServer('mariadb')
const server = await requireServer('postgres')

export const places: Readonly<
  Record<string, { readonly isHere: boolean; open(options?: Partial<ClientOptions>): Promise<Place> }>
> = {
  'node:sqlite': { isHere: true, open: () => openSqlite() },
  'better-sqlite3': { isHere: true, open: () => openSqlite((path) => new BetterSqlite3(path)) },
  pg: { isHere: server.available, open: openPg },
  'postgres.js': { isHere: server.available, open: openPostgresJs },
  mysql2: { isHere: mariadb.available, open: openMysql },
}

/** The types are spelt so that all three databases have them. */
function tables(prefix: string): readonly string[] {
  return [
    `CREATE TABLE ${prefix}invoices (order_id varchar(40) PRIMARY KEY, total decimal(30, 4), note varchar(40) UNIQUE)`,
    `CREATE TABLE ${prefix}visits (day varchar(20), visitor bigint, pages int, PRIMARY KEY (day, visitor))`,
    `CREATE TABLE ${prefix}orders (id bigint PRIMARY KEY, state varchar(60), version int, deleted_at varchar(40), total int)`,
    `CREATE TABLE ${prefix}profiles (id int PRIMARY KEY, name varchar(40), changed_at bigint)`,
    `CREATE TABLE ${prefix}accounts (account int PRIMARY KEY, balance decimal(40, 4))`,
    `CREATE TABLE ${prefix}entries (transfer varchar(40), account int, amount decimal(40, 4), settled boolean, PRIMARY KEY (transfer, account))`,
    `CREATE TABLE ${prefix}later_accounts (account int PRIMARY KEY, balance decimal(40, 4))`,
    `CREATE TABLE ${prefix}later_entries (transfer varchar(40), account int, amount decimal(40, 4), settled boolean, PRIMARY KEY (transfer, account))`,
    `CREATE TABLE ${prefix}stock (item varchar(20) PRIMARY KEY, free int, held int)`,
  ]
}

async function openSqlite(open?: (path: string) => TestDatabase): Promise<Place> {
  const path = ':memory:'
  const store: SqliteStore<TestDatabase> = open === undefined ? sqliteStore({ path }) : sqliteStore({ path, open })
  await store.schema.install()
  // SQLite has no decimals: money is whole numbers there.
  const sql = tables('').map((each) => each.replace(/decimal\(\d+, \d+\)/g, 'integer'))
  await store.transaction(async (tx) => tx.exec(sql.join(';')))
  return {
    store: store as Store<unknown>,
    table: (name) => name,
    dialect: 'sqlite',
    exec: (sql) => store.transaction(async (tx) => void tx.exec(sql.replaceAll('{}', ''))),
    close: () => store.close(),
  }
}

async function openPg(options: pg.PoolConfig = {}): Promise<Place> {
  const pool = new pg.Pool({ connectionString: server.url, max: 6, ...options })
  const schema = newSchema()
  const store = postgresStore({ pool, schema })
  await store.schema.install()
  await pool.query(tables(`${schema}.`).join(';'))
  return {
    store: store as Store<unknown>,
    table: (name) => [schema, name],
    dialect: 'postgres',
    async transaction(isolation, work) {
      const client = await pool.connect()
      try {
        await client.query(`BEGIN ISOLATION LEVEL ${isolation}`)
        await client.query(`SELECT FROM ${schema}.accounts LIMIT 1`)
        const answer = await work(client)
        await client.query('COMMIT')
        return answer
      } catch (error) {
        await client.query('ROLLBACK')
        throw error
      } finally {
        client.release()
      }
    },
    async exec(sql) {
      await pool.query(sql.replaceAll('{}', `${schema}.`))
    },
    async close() {
      await store.close()
      await pool.query(`DROP SCHEMA ${schema} CASCADE`)
      await pool.end()
    },
  }
}

async function openPostgresJs(options: postgres.Options<never> = {}): Promise<Place> {
  const client = postgres(server.url, { max: 6, onnotice: () => {}, ...options })
  const schema = newSchema()
  const store = postgresStore({ sql: client, schema })
  await store.schema.install()
  await client.unsafe(tables(`${schema}.`).join(';'))
  return {
    store: store as Store<unknown>,
    table: (name) => [schema, name],
    dialect: 'postgres',
    async exec(sql) {
      await client.unsafe(sql.replaceAll('{}', `${schema}.`))
    },
    async close() {
      await store.close()
      await client.unsafe(`DROP SCHEMA ${schema} CASCADE`)
      await client.end()
    },
  }
}

async function openMysql({ session, ...options }: PoolOptions & { session?: string } = {}): Promise<Place> {
  const database = newDatabase()
  await askMysql(mariadb.url, `CREATE DATABASE ${database}`)
  const pool = mysql.createPool({ uri: mysqlDatabaseUrl(mariadb.url, database), connectionLimit: 6, ...options })
  if (session !== undefined) pool.on('connection', (connection) => void connection.query(session))
  const store = mysqlStore<PoolConnection>({ pool })
  await store.schema.install()
  for (const sql of tables('')) await pool.query(sql)
  return {
    store: store as Store<unknown>,
    table: (name) => name,
    dialect: 'mysql',
    async transaction(isolation, work) {
      const connection = await pool.getConnection()
      try {
        await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`)
        await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT')
        const answer = await work(connection)
        await connection.query('COMMIT')
        return answer
      } catch (error) {
        await connection.query('ROLLBACK')
        throw error
      } finally {
        connection.release()
      }
    },
    async exec(sql) {
      for (const each of sql.split(';')) await pool.query(each.replaceAll('{}', ''))
    },
    async close() {
      await store.close()
      await pool.query(`DROP DATABASE ${database}`)
      await pool.end()
    },
  }
}
