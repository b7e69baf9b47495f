import pg from 'pg'
import postgres, { type Sql } from 'postgres'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'

/** A store on a pool that other code of the process uses, too. */
export interface SharedPool {
  readonly store: PostgresStore<unknown>
  /** As other code would run it, on a connection of the same pool. */
  query(text: string): Promise<unknown>
  /** As other code would that gives its connection back without ending what it has begun. */
  leave(text: string): Promise<unknown>
  /** As a handler would run it, through what it is lent. */
  run(tx: unknown, text: string): Promise<readonly Record<string, unknown>[]>
  close(): Promise<void>
}

export interface PoolOptions {
  readonly url: string
  readonly schema?: string | undefined
  readonly max?: number
  readonly prepare?: boolean
}

function openPg(
  { url, max = 1, schema, ...options }: PoolOptions,
  more: pg.PoolConfig & { pipeline?: boolean } = {},
): SharedPool {
  const pool = new pg.Pool({ connectionString: url, max, ...more })
  const store = postgresStore({ pool, schema, listen: false, ...options })
  return {
    store: store as unknown as PostgresStore<unknown>,
    query: (text) => pool.query(text),
    async leave(text) {
      const client = await pool.connect()
      await client.query(text).catch(() => {})
      client.release()
    },
    run: async (tx, text) => (await (tx as pg.PoolClient).query(text)).rows,
    async close() {
      await store.close()
      await pool.end()
    },
  }
}

function openJs({ url, max = 1, schema, ...options }: PoolOptions): SharedPool {
  const sql = postgres(url, { max, onnotice: () => {} }) as unknown as Sql
  const store = postgresStore({ sql, schema, listen: false, ...options })
  return {
    store: store as unknown as PostgresStore<unknown>,
    query: async (text) => await sql.unsafe(text),
    async leave(text) {
      const reserved = await sql.reserve()
      await reserved.unsafe(text).catch(() => {})
      reserved.release()
    },
    run: async (tx, text) => await (tx as Sql).unsafe(text),
    async close() {
      await store.close()
      await sql.end({ timeout: 1 })
    },
  }
}

export const poolsOf: readonly { client: string; open(options: PoolOptions): SharedPool }[] = [
  { client: 'pg', open: (options) => openPg(options) },
  { client: 'pg that pipelines', open: (options) => openPg(options, { pipeline: true }) },
  { client: 'postgres.js', open: openJs },
]
