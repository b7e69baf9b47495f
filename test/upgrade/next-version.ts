import type pg from 'pg'
import type { Schema } from '../../src/contracts/index.ts'
import { migrations as postgresMigrations } from '../../src/stores/postgres/migrations/index.ts'
import { pgSource } from '../../src/stores/postgres/pg/pg-source.ts'
import { postgresSchema } from '../../src/stores/postgres/schema.ts'
import { tableNames } from '../../src/stores/postgres/tables.ts'
import { FairMutex } from '../../src/stores/sql/fair-mutex.ts'
import { systemTimers } from '../../src/stores/sql/system-timers.ts'
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
  const connection = new Connection({ kind: 'opened', open })
  const reader = connectedReader(open, { patienceMs })
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
  return postgresSchema(pgSource(pool, { prepare: true }), tables, [...postgresMigrations, () => next])
}
