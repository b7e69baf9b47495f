import pg from 'pg'
import postgres, { type ReservedSql, type Sql } from 'postgres'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Effects, StoreCaseContext } from '../../src/testing/index.ts'
import { declared, effectTables, newSchema } from './pg-context.ts'

export interface JsContextOptions {
  readonly url: string
  readonly client?: postgres.Options<Record<string, never>>
  readonly prepare?: boolean
  readonly listen?: boolean
}

/** Two stores on two clients of postgres.js, and effects in a table beside theirs. */
export async function openJsContext(options: JsContextOptions): Promise<StoreCaseContext<ReservedSql>> {
  const schemas = [newSchema(), newSchema()] as const
  const clients = [newSql(options), newSql(options)] as const
  const admin = new pg.Pool({ connectionString: options.url, max: 3 })
  admin.on('error', () => {})
  const storesIn = (schema: string) =>
    clients.map((sql) => postgresStore({ sql, schema, prepare: options.prepare, listen: options.listen }))
  const [store, rival] = storesIn(schemas[0])
  const emptyStores = storesIn(schemas[1])
  if (!store || !rival) throw new Error('two clients make two stores')
  await store.schema.install()
  await admin.query(effectTables(schemas[0]))
  return {
    store,
    rival,
    effects: jsEffects(schemas[0], { sql: clients[0], admin }),
    declares: declared,
    openEmpty: async () => [emptyStores[0]!, emptyStores[1]!],
    async close() {
      for (const each of [store, rival, ...emptyStores]) await each.close()
      // Without a timeout postgres.js waits for ever after a connection was lost in the middle of a query.
      for (const sql of clients) await sql.end({ timeout: 1 })
      await admin.query(schemas.map((schema) => `DROP SCHEMA IF EXISTS ${schema} CASCADE`).join(';'))
      await admin.end()
    },
  }
}

export function newSql({ url, client }: JsContextOptions): Sql {
  return postgres(url, { max: 8, onnotice: () => {}, ...client }) as unknown as Sql
}

export function jsEffects(schema: string, { sql, admin }: { sql: Sql; admin: pg.Pool }): Effects<ReservedSql> {
  const run = (text: string) => async (tx: ReservedSql) => await tx.unsafe(text)
  return {
    async write(tx, name) {
      await tx`INSERT INTO ${tx(schema)}.effects ${tx({ name })}`.execute()
    },
    async count(name) {
      const text = `SELECT count(*)::int AS n FROM ${schema}.effects WHERE name = $1`
      return (await admin.query<{ n: number }>(text, [name])).rows[0]?.n ?? Number.NaN
    },
    writeBadly: async (tx) => await tx`SELECT 1 / 0`.execute(),
    writeFailingAtCommit: async (tx) => await tx`INSERT INTO ${tx(schema)}.late VALUES (1)`,
    commit: async (tx) => await tx`COMMIT`,
    controls: [
      { name: 'COMMIT', run: async (tx) => await tx`COMMIT` },
      { name: 'commit by unsafe', run: run('commit') },
      { name: 'commit from a fragment', run: async (tx) => await tx`${tx`commit`}` },
      { name: 'END', run: run('end') },
      { name: 'ROLLBACK', run: run('ROLLBACK') },
      { name: 'ABORT', run: run(' abort ;') },
      { name: 'BEGIN', run: run('BEGIN') },
      { name: 'START TRANSACTION', run: run('start transaction read write') },
      { name: 'PREPARE TRANSACTION', run: run(`PREPARE TRANSACTION 'justonce'`) },
      { name: 'COMMIT AND CHAIN', run: run('COMMIT AND CHAIN') },
      { name: 'among other statements', run: run('SELECT 1; /* now */ COMMIT; BEGIN') },
    ],
    async inSavepoint(tx, work) {
      await tx`SAVEPOINT of_the_user`
      try {
        await work()
        await tx`RELEASE SAVEPOINT of_the_user`
      } catch (error) {
        await tx`ROLLBACK TO SAVEPOINT of_the_user`
        throw error
      }
    },
    prepareWrite(tx) {
      return async (name) => {
        await tx`INSERT INTO ${tx(schema)}.effects VALUES (${name})`
      }
    },
    async cut(tx) {
      const [row] = await tx<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
      await admin.query('SELECT pg_terminate_backend($1, 10000)', [row?.pid])
    },
    // Not sql.begin: that one undoes everything after any failed query, also after one in a savepoint.
    async transaction(work, { repeatableRead = false } = {}) {
      const tx = await sql.reserve()
      try {
        await tx.unsafe(repeatableRead ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN')
        const value = await work(tx)
        await tx`COMMIT`
        return value
      } catch (error) {
        await tx`ROLLBACK`
        throw error
      } finally {
        tx.release()
      }
    },
  }
}
