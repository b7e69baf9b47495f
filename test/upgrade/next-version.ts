import type { Pool } from 'mysql2/promise'
import type pg from 'pg'
import type { Schema } from '../../src/contracts/index.ts'
import { Connections } from '../../src/stores/mysql/connections.ts'
import { migrations as mysqlMigrations } from '../../src/stores/mysql/migrations/index.ts'
import { mysqlSchema } from '../../src/stores/mysql/schema.ts'
import { ShortTransactions } from '../../src/stores/mysql/short-transactions.ts'
import { tableNames as mysqlTables } from '../../src/stores/mysql/tables.ts'
import { migrations as postgresMigrations } from '../../src/stores/postgres/migrations/index.ts'
import { pgConnections } from '../../src/stores/postgres/pg/pg-connections.ts'
import { postgresSchema } from '../../src/stores/postgres/schema.ts'
import { tableNames } from '../../src/stores/postgres/tables.ts'
import { FairMutex } from '../../src/stores/shared/fair-mutex.ts'
import { systemTimers } from '../../src/stores/shared/system-timers.ts'
import { AnswerWatch } from '../../src/stores/sql/answer-watch.ts'
import { Connection } from '../../src/stores/sqlite/connection.ts'
import { connectedReader } from '../../src/stores/sqlite/reader.ts'
import { migrations as sqliteMigrations, sqliteSchema } from '../../src/stores/sqlite/schema.ts'
import type { SqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { Transactions } from '../../src/stores/sqlite/transactions.ts'

/** What the next version might change: a column of the largest table, with a default, and a table more. */
export const newColumn = 'shard'
export const newTable = 'justonce_new'
const change = (inbox: string, table: string): string => `
  ALTER TABLE ${inbox} ADD COLUMN ${newColumn} integer NOT NULL DEFAULT 7;
  CREATE TABLE ${table} (name text PRIMARY KEY);
  INSERT INTO ${table} (name) VALUES ('made once');`

/** As a later version of this code would have it; with `broken` one that fails after it has begun. */
export function nextSqlite(open: () => SqliteDatabase, broken = ''): { readonly schema: Schema; close(): void } {
  const patienceMs = 10_000
  const origin = { kind: 'opened', path: '', open } as const
  const connection = new Connection(origin)
  const reader = connectedReader(origin, { patienceMs })
  const transactions = new Transactions(connection, new FairMutex(systemTimers, patienceMs), patienceMs)
  const steps = [...sqliteMigrations, `${change('justonce_inbox', newTable)}${broken}`]
  return {
    schema: sqliteSchema(transactions, reader, steps),
    close() {
      reader.close()
      connection.close()
    },
  }
}

export function nextPostgres(pool: pg.Pool, schema: string, broken = ''): Schema {
  const tables = tableNames('justonce_', schema)
  const next = `${change(tables.inbox, `${schema}.${newTable}`)}${broken}`
  return postgresSchema(pgConnections(pool, { prepare: true, answers: new AnswerWatch(60_000) }), tables, [
    ...postgresMigrations,
    () => next,
  ])
}

/** MySQL commits each of these by itself, so each must do no harm when it is run again. */
export function nextMysql(pool: Pool, broken?: string): Schema {
  const connections = new Connections(pool, new AnswerWatch(60_000))
  const tables = mysqlTables('justonce_', undefined)
  const table = tables.inbox.replace('justonce_inbox', newTable)
  const next = [
    `ALTER TABLE ${tables.inbox} ADD COLUMN IF NOT EXISTS ${newColumn} integer NOT NULL DEFAULT 7`,
    ...(broken === undefined ? [] : [broken]),
    `CREATE TABLE IF NOT EXISTS ${table} (name varchar(50) PRIMARY KEY)`,
    `INSERT IGNORE INTO ${table} (name) VALUES ('made once')`,
  ]
  return mysqlSchema(connections, new ShortTransactions(connections), tables, [...mysqlMigrations, () => next])
}
