import { randomBytes } from 'node:crypto'
import { JustonceError } from '../../errors/index.ts'
import type { PgClientShape, PostgresJsShape } from '../../stores/postgres/client-shapes.ts'
import type { PostgresStore } from '../../stores/postgres/index.ts'
import { type Clients, clientsOf, type PgPoolToEnd, type PostgresJsToEnd } from './postgres-clients.ts'
import { takeSnapshot } from './postgres-snapshot.ts'
import { readPostgresFacts, readPostgresTables } from './postgres-tables.ts'
import type { ScratchCopy, ScratchDatabase, ScratchPlace } from './scratch.ts'

/** What `scratchPostgres()` takes. */
export interface ScratchPostgresOptions<Pool> {
  /** A Postgres in which you may create a schema. Nothing outside that schema is touched. */
  readonly url: string
  /** Opens a pool: `(url) => new pg.Pool({ connectionString: url })`, or `(url) => postgres(url)`. */
  connect(url: string): Pool
}

/**
 * A scratch schema in your Postgres, reset for every run and dropped at the end.
 *
 * @example
 * scratchPostgres({ url: process.env.DATABASE_URL, connect: (url) => new pg.Pool({ connectionString: url }) })
 * scratchPostgres({ url: process.env.DATABASE_URL, connect: (url) => postgres(url) })
 */
export function scratchPostgres<Client extends PgClientShape>(
  options: ScratchPostgresOptions<PgPoolToEnd<Client>>,
): ScratchDatabase<PostgresStore<Client>>
export function scratchPostgres<Sql extends PostgresJsShape>(
  options: ScratchPostgresOptions<PostgresJsToEnd<Sql>>,
): ScratchDatabase<PostgresStore<Sql>>
export function scratchPostgres({
  url,
  connect,
}: ScratchPostgresOptions<unknown>): ScratchDatabase<PostgresStore<PgClientShape>> {
  return {
    name: 'postgres',
    async prepare(setup) {
      const schema = `justonce_prove_${randomBytes(4).toString('hex')}`
      const place = { url: inSchema(url, schema) }
      const clients = clientsOf(connect(place.url)) as Clients<PgClientShape>
      await checkPool(clients)
      const remove = async (): Promise<void> => {
        await clients.ask(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).finally(() => clients.end())
      }
      const renew = async (): Promise<void> => {
        await clients.ask(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`)
        await clients.store().schema.install()
        await clients.use((client) => setup(client, place))
      }
      try {
        await renew()
        let snapshot = await takeSnapshot(clients.ask)
        return {
          async fresh() {
            if ((await snapshot?.restore()) !== true) {
              await renew()
              snapshot = await takeSnapshot(clients.ask)
            }
            return copyOf(clients, place)
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

/** One for each of two processes, one to observe them, and one to spare for handlers that open their own. */
const connectionsNeeded = 4

async function checkPool(clients: Clients<PgClientShape>): Promise<void> {
  const { connections } = clients.store().capabilities
  if (connections >= connectionsNeeded) return
  await clients.end()
  throw new JustonceError('POOL_TOO_SMALL', {
    message: `connect(url) of scratchPostgres() made a pool of ${connections} connections, but prove() needs ${connectionsNeeded}.`,
  })
}

function copyOf(clients: Clients<PgClientShape>, place: ScratchPlace): ScratchCopy<PostgresStore<PgClientShape>> {
  return {
    place,
    async openStore() {
      const store = clients.store()
      return { store, close: () => store.close() }
    },
    use: (work) => clients.use((client) => work(client, place)),
    tables: () => readPostgresTables(clients.ask),
    facts: () => readPostgresFacts(clients.ask),
    async someoneWaits() {
      const [row] = await clients.ask(
        `SELECT count(*)::int AS waiting FROM pg_locks JOIN pg_stat_activity USING (pid)
           WHERE NOT granted AND application_name = current_setting('application_name')`,
      )
      return Number(row?.waiting) > 0
    },
    async remove() {},
  }
}

/**
 * Both libraries, and psql, pass `options` to the server, where it sets the defaults of the session. A scratch schema need not
 * survive a power failure, so commits do not wait for the disk.
 */
function inSchema(url: string, schema: string): string {
  const scratch = new URL(url)
  const settings = `-c search_path=${schema} -c synchronous_commit=off`
  const given = scratch.searchParams.get('options')
  scratch.searchParams.set('options', given === null ? settings : `${given} ${settings}`)
  scratch.searchParams.set('application_name', schema)
  // URLSearchParams writes a space as +, which postgres.js reads as a plus.
  scratch.search = scratch.search.replaceAll('+', '%20')
  return scratch.href
}
