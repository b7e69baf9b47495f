import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { Store } from '../../src/contracts/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import type { Database } from './config.ts'

const table = 'create table if not exists effects (stage text not null, id text not null)'

export interface OpenedDatabase {
  readonly store: Store
  /** Without a key that would refuse a second one: it is to be seen. */
  write(tx: unknown, stage: string, id: string): Promise<unknown> | unknown
  /** How often each id took effect in a stage. */
  effects(stage: string): Promise<ReadonlyMap<string, number>>
  close(): Promise<void>
}

export async function openDatabase(database: Database): Promise<OpenedDatabase> {
  return database.kind === 'sqlite' ? openSqlite(database.path) : await openPostgres(database.url)
}

function openSqlite(path: string): OpenedDatabase {
  const store = sqliteStore({ path })
  const reader = new DatabaseSync(path)
  reader.exec('pragma busy_timeout = 5000')
  reader.exec(table)
  return {
    store: store as unknown as Store,
    write: (tx, stage, id) => (tx as DatabaseSync).prepare('insert into effects values (?, ?)').run(stage, id),
    async effects(stage) {
      const rows = reader.prepare('select id, count(*) as times from effects where stage = ? group by id').all(stage)
      return new Map(rows.map(({ id, times }) => [String(id), Number(times)]))
    },
    async close() {
      await store.close()
      reader.close()
    },
  }
}

async function openPostgres(url: string): Promise<OpenedDatabase> {
  const pool = new pg.Pool({ connectionString: url, max: 6, connectionTimeoutMillis: 2_000 })
  // A server that is killed ends idle connections, too.
  pool.on('error', () => {})
  const store = postgresStore({ pool })
  return {
    store: store as unknown as Store,
    write: (tx, stage, id) => (tx as pg.PoolClient).query('insert into effects values ($1, $2)', [stage, id]),
    async effects(stage) {
      await pool.query(table)
      const { rows } = await pool.query('select id, count(*)::int as times from effects where stage = $1 group by id', [
        stage,
      ])
      return new Map(rows.map(({ id, times }) => [id, times]))
    },
    async close() {
      await store.close()
      await pool.end()
    },
  }
}
