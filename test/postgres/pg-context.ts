import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import type { Effects, StoreCaseContext } from '../../src/testing/index.ts'
import { type SqlClient, sqlEffects } from '../conformance/sql-effects.ts'
import { openTwoStores } from '../conformance/two-stores.ts'

type Tx = pg.PoolClient

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
export async function openPgContext({ url, pool, ...how }: PgContextOptions): Promise<StoreCaseContext<Tx>> {
  const pools = [newPool({ url, pool }), newPool({ url, pool })] as const
  const { schemas, admin, ...places } = twoSchemas(url)
  return await openTwoStores({
    ...places,
    openStore: (client, place) => postgresStore({ pool: pools[client], schema: schemas[place], ...how }),
    effects: pgEffects(schemas[0], { pool: pools[0], admin }),
    async remove() {
      for (const each of pools) await each.end()
      await places.remove()
    },
  })
}

export function newPool({ url, pool }: PgContextOptions): pg.Pool {
  return new pg.Pool({ connectionString: url, max: 8, ...pool })
}

export function effectTables(schema: string): string {
  return `
    CREATE TABLE ${schema}.effects (name text NOT NULL);
    CREATE TABLE ${schema}.rows_to_lock (name text PRIMARY KEY);
    CREATE TABLE ${schema}.nothing (id int PRIMARY KEY);
    CREATE TABLE ${schema}.late (id int REFERENCES ${schema}.nothing DEFERRABLE INITIALLY DEFERRED)`
}

/** What the contexts of all clients have in common. */
export function twoSchemas(url: string) {
  const schemas = [newSchema(), newSchema()] as const
  const admin = newPool({ url })
  // The stores' own pools need no such thing.
  admin.on('error', () => {})
  return {
    schemas,
    admin,
    declares: ['poisoning', 'async-calls', 'idle-timeout', 'strict-isolation', 'last-writes', 'tables'] as const,
    createEffects: () => admin.query(effectTables(schemas[0])),
    backUp: () => dumped(admin, schemas[0]),
    moveClock: (ms: number) => moveStoredTimes(admin, schemas[0], ms),
    async remove() {
      await admin.query(schemas.map((schema) => `DROP SCHEMA IF EXISTS ${schema} CASCADE`).join(';'))
      await admin.end()
    },
  }
}

/** The server's clock is that of the machine. */
async function moveStoredTimes(admin: pg.Pool, schema: string, ms: number): Promise<void> {
  const by = `interval '${ms} milliseconds'`
  await admin.query(`
    UPDATE ${schema}.justonce_meta SET horizon = horizon - ${by}, removed_until = removed_until - ${by},
      clock_seen = clock_seen - ${by}, clock_doubted = clock_doubted - ${by};
    UPDATE ${schema}.justonce_facts SET expires_at = expires_at - ${by};
    UPDATE ${schema}.justonce_parked SET parked_at = parked_at - ${by}, changed_at = changed_at - ${by}, next_at = next_at - ${by};
    UPDATE ${schema}.justonce_queue SET visible_at = visible_at - ${by}`)
}

/** What pg_dump and pg_restore --clean do: the tables are dropped, made anew, and filled with what was kept; numbers go on from there. */
async function dumped(admin: pg.Pool, schema: string): Promise<() => Promise<void>> {
  const kept = newSchema()
  await admin.query(`CREATE SCHEMA ${kept}`)
  const { rows } = await admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    [schema],
  )
  for (const { name } of rows) await admin.query(`CREATE TABLE ${kept}."${name}" AS TABLE ${schema}."${name}"`)
  return async () => {
    await admin.query(`DROP SCHEMA ${schema} CASCADE`)
    await postgresStore({ pool: admin, schema }).schema.install()
    await admin.query(effectTables(schema))
    for (const { name } of rows) {
      await admin.query(`DELETE FROM ${schema}."${name}"`)
      await admin.query(`INSERT INTO ${schema}."${name}" OVERRIDING SYSTEM VALUE SELECT * FROM ${kept}."${name}"`)
    }
    await admin.query(
      `SELECT setval(pg_get_serial_sequence($1, 'sequence'), greatest(max(sequence), 1)) FROM ${schema}.justonce_queue`,
      [`${schema}.justonce_queue`],
    )
    await admin.query(`DROP SCHEMA ${kept} CASCADE`)
  }
}

/** The effects that are plain SQL, or seen from outside. */
export function postgresEffects<Tx>(schema: string, admin: pg.Pool, client: Omit<SqlClient<Tx>, 'begin' | 'controls'>) {
  const sql = sqlEffects<Tx>({
    ...client,
    begin: ({ repeatableRead }) => [repeatableRead ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'BEGIN'],
    controls: [
      ...['COMMIT', 'end', 'ROLLBACK', ' abort ;', 'BEGIN', 'start transaction read write', 'COMMIT AND CHAIN'],
      ...[`PREPARE TRANSACTION 'justonce'`, 'SELECT 1; /* now */ COMMIT; BEGIN'],
    ],
  })
  return {
    ...sql,
    async count(name) {
      const text = `SELECT count(*)::int AS n FROM ${schema}.effects WHERE name = $1`
      return (await admin.query<{ n: number }>(text, [name])).rows[0]?.n ?? Number.NaN
    },
    writeBadly: (tx) => client.run(tx, 'SELECT 1 / 0'),
    lock: (tx, name) =>
      client.run(
        tx,
        `INSERT INTO ${schema}.rows_to_lock VALUES ('${name}') ON CONFLICT (name) DO UPDATE SET name = excluded.name`,
      ),
    writeFailingAtCommit: (tx) => client.run(tx, `INSERT INTO ${schema}.late VALUES (1)`),
  } satisfies Partial<Effects<Tx>>
}

export function pgEffects(schema: string, { pool, admin }: { pool: pg.Pool; admin: pg.Pool }): Effects<Tx> {
  const insert = `INSERT INTO ${schema}.effects VALUES ($1)`
  const sql = postgresEffects<Tx>(schema, admin, {
    run: (tx, text) => tx.query(text),
    checkOut: () => pool.connect(),
    release: (tx) => tx.release(),
  })
  const callback = (tx: Tx, text: string) =>
    new Promise((resolve, reject) => {
      tx.query(text, (error: unknown, result: unknown) => (error ? reject(error) : resolve(result)))
    })
  return {
    ...sql,
    writeBadly: (tx, value = '') => tx.query('SELECT 1 / 0, $1::text', [value]),
    write: async (tx, name) => void (await tx.query(insert, [name])),
    controls: [
      ...sql.controls,
      { name: 'commit in a config', run: (tx) => tx.query({ text: 'commit' }) },
      { name: 'commit with a callback', run: (tx) => callback(tx, 'commit') },
      { name: 'a Query object', run: (tx) => submitted(tx, 'COMMIT') },
    ],
    prepareWrite(tx) {
      const query = tx.query.bind(tx)
      return async (name) => void (await query(insert, [name]))
    },
    async cut(tx) {
      const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
      await admin.query('SELECT pg_terminate_backend($1, 10000)', [rows[0]?.pid])
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
