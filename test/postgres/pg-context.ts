import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Effects, StoreCaseContext } from '../../src/testing/index.ts'

type Tx = pg.PoolClient

export const declared = ['poisoning', 'async-calls', 'idle-timeout', 'strict-isolation', 'tables'] as const

/** A Postgres schema of its own for each case is as good as a database of its own, and much faster. */
export function newSchema(): string {
  return `case_${randomBytes(6).toString('hex')}`
}

export interface PgContextOptions {
  readonly url: string
  readonly pool?: pg.PoolConfig
  readonly prepare?: boolean
  readonly listen?: boolean
}

/** Two stores on two pools of `pg`, and effects in a table beside theirs. */
export async function openPgContext(options: PgContextOptions): Promise<StoreCaseContext<Tx>> {
  const schemas = [newSchema(), newSchema()] as const
  const pools = [1, 2].map(() => newPool(options))
  const admin = newPool({ url: options.url })
  // The stores' own pools need no such thing.
  admin.on('error', () => {})
  const storesIn = (schema: string) =>
    pools.map((pool) => postgresStore({ pool, schema, prepare: options.prepare, listen: options.listen }))
  const [store, rival] = storesIn(schemas[0])
  const emptyStores = storesIn(schemas[1])
  if (!store || !rival || !pools[0]) throw new Error('two pools make two stores')
  await store.schema.install()
  await admin.query(effectTables(schemas[0]))
  return {
    store,
    rival,
    effects: pgEffects(schemas[0], { pool: pools[0], admin }),
    declares: declared,
    openEmpty: async () => [emptyStores[0]!, emptyStores[1]!],
    async close() {
      for (const each of [store, rival, ...emptyStores]) await each.close()
      for (const pool of pools) await pool.end()
      await admin.query(schemas.map((schema) => `DROP SCHEMA IF EXISTS ${schema} CASCADE`).join(';'))
      await admin.end()
    },
  }
}

export function newPool({ url, pool }: PgContextOptions): pg.Pool {
  return new pg.Pool({ connectionString: url, max: 8, ...pool })
}

export function effectTables(schema: string): string {
  return `
    CREATE TABLE ${schema}.effects (name text NOT NULL);
    CREATE TABLE ${schema}.nothing (id int PRIMARY KEY);
    CREATE TABLE ${schema}.late (id int REFERENCES ${schema}.nothing DEFERRABLE INITIALLY DEFERRED)`
}

export function pgEffects(schema: string, { pool, admin }: { pool: pg.Pool; admin: pg.Pool }): Effects<Tx> {
  const insert = `INSERT INTO ${schema}.effects VALUES ($1)`
  const run = (text: string) => (tx: Tx) => tx.query(text)
  const callback = (tx: Tx, text: string) =>
    new Promise((resolve, reject) => {
      tx.query(text, (error: unknown, result: unknown) => (error ? reject(error) : resolve(result)))
    })
  return {
    async write(tx, name) {
      await tx.query(insert, [name])
    },
    async count(name) {
      const text = `SELECT count(*)::int AS n FROM ${schema}.effects WHERE name = $1`
      return (await admin.query<{ n: number }>(text, [name])).rows[0]?.n ?? Number.NaN
    },
    writeBadly: (tx) => tx.query('SELECT 1 / 0'),
    writeFailingAtCommit: (tx) => tx.query(`INSERT INTO ${schema}.late VALUES (1)`),
    commit: (tx) => tx.query('COMMIT'),
    controls: [
      { name: 'COMMIT', run: run('COMMIT') },
      { name: 'commit in a config', run: (tx) => tx.query({ text: 'commit' }) },
      { name: 'commit with a callback', run: (tx) => callback(tx, 'commit') },
      { name: 'END', run: run('end') },
      { name: 'ROLLBACK', run: run('ROLLBACK') },
      { name: 'ABORT', run: run(' abort ;') },
      { name: 'BEGIN', run: run('BEGIN') },
      { name: 'START TRANSACTION', run: run('start transaction read write') },
      { name: 'PREPARE TRANSACTION', run: run(`PREPARE TRANSACTION 'justonce'`) },
      { name: 'COMMIT AND CHAIN', run: run('COMMIT AND CHAIN') },
      { name: 'among other statements', run: run('SELECT 1; /* now */ COMMIT; BEGIN') },
      { name: 'a Query object', run: (tx) => submitted(tx, 'COMMIT') },
    ],
    async inSavepoint(tx, work) {
      await tx.query('SAVEPOINT of_the_user')
      try {
        await work()
        await tx.query('RELEASE SAVEPOINT of_the_user')
      } catch (error) {
        await tx.query('ROLLBACK TO SAVEPOINT of_the_user')
        throw error
      }
    },
    prepareWrite(tx) {
      const query = tx.query.bind(tx)
      return async (name) => {
        await query(insert, [name])
      }
    },
    async cut(tx) {
      const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      await admin.query('SELECT pg_terminate_backend($1, 10000)', [rows[0]?.pid])
    },
    async transaction(work, { repeatableRead = false } = {}) {
      const client = await pool.connect()
      try {
        await client.query(repeatableRead ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN')
        const value = await work(client)
        await client.query('COMMIT')
        client.release()
        return value
      } catch (error) {
        await client.query('ROLLBACK')
        client.release()
        throw error
      }
    },
  }
}

function submitted(tx: Tx, text: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query(text)
    query.on('error', reject)
    query.on('end', resolve)
    tx.query(query)
  })
}
