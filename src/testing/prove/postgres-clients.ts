import { JustonceError } from '../../errors/index.ts'
import type {
  PgClientShape,
  PgPoolShape,
  PostgresJsClientShape,
  PostgresJsShape,
} from '../../stores/postgres/client-shapes.ts'
import { type PostgresStore, postgresStore } from '../../stores/postgres/index.ts'

/** A `Pool` of `pg` that can be ended. */
export interface PgPoolToEnd<Client extends PgClientShape> extends PgPoolShape<Client> {
  end(): Promise<unknown>
}

/** What `postgres()` of postgres.js returns. */
export interface PostgresJsToEnd<Sql extends PostgresJsShape> extends PostgresJsClientShape<Sql> {
  end(): Promise<unknown>
}

export type Rows = readonly Record<string, unknown>[]

/** The parts of a pool of either library that a scratch schema needs. */
export interface Clients<Tx> {
  /** A store on this pool. Closing it leaves the pool open. */
  store(): PostgresStore<Tx>
  use<T>(work: (client: Tx) => T): Promise<Awaited<T>>
  ask(text: string): Promise<Rows>
  end(): Promise<void>
}

export function clientsOf(pool: unknown): Clients<PgClientShape> | Clients<PostgresJsShape> {
  const { connect, reserve, end } = (pool ?? {}) as { connect?: unknown; reserve?: unknown; end?: unknown }
  if (typeof connect === 'function' && typeof end === 'function') return pgClients(pool as PgPoolToEnd<PgClientShape>)
  if (typeof reserve === 'function' && typeof end === 'function')
    return jsClients(pool as PostgresJsToEnd<PostgresJsShape>)
  throw new JustonceError('OPTION_INVALID', {
    message: 'connect(url) of scratchPostgres() must return a Pool of pg or what postgres() of postgres.js returns.',
  })
}

function pgClients(pool: PgPoolToEnd<PgClientShape>): Clients<PgClientShape> {
  const use = async <T>(work: (client: PgClientShape) => T): Promise<Awaited<T>> => {
    const client = await pool.connect()
    try {
      return await work(client)
    } finally {
      client.release()
    }
  }
  return {
    store: () => postgresStore({ pool, listen: false }),
    use,
    ask: (text) => use(async (client) => ((await client.query(text)) as { rows: Rows }).rows),
    async end() {
      await pool.end()
    },
  }
}

function jsClients(sql: PostgresJsToEnd<PostgresJsShape>): Clients<PostgresJsShape> {
  return {
    store: () => postgresStore({ sql, listen: false }),
    async use<T>(work: (client: PostgresJsShape) => T): Promise<Awaited<T>> {
      const reserved = await sql.reserve()
      try {
        return await work(reserved)
      } finally {
        reserved.release()
      }
    },
    ask: async (text) => (await sql.unsafe(text)) as Rows,
    async end() {
      await sql.end()
    },
  }
}
