import pg from 'pg'
import { createClient } from 'redis'
import { startPostgres } from '../../test/servers/postgres.ts'
import { startRedis } from '../../test/servers/redis.ts'
import { createTables, emptyTables } from '../transfers/tables.ts'
import type { Ground } from './contestant.ts'
import { until } from './effects.ts'

const concurrency = 10

export interface Grounds {
  readonly about: string
  /** Runs with a fresh database and an empty Redis, and removes both. */
  use<T>(run: (ground: Ground, pool: pg.Pool) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A Postgres and a Redis of our own, the same for everyone. */
export async function openGrounds(): Promise<Grounds> {
  const [postgres, redis] = await Promise.all([startPostgres({ settings: { max_connections: 200 } }), startRedis()])
  let count = 0
  return {
    about:
      `Postgres ${postgres.version}, fsync and synchronous_commit on; Redis ${redis.version}, appendfsync everysec; ` +
      `${concurrency} in flight`,
    async use(run) {
      const client = await createClient({ url: redis.url }).connect()
      await client.flushAll()
      await client.close()
      const database = `peers_${++count}`
      const postgresUrl = await postgres.createDatabase(database)
      const pool = new pg.Pool({ connectionString: postgresUrl, max: 2 })
      // The database is dropped under whatever a killed or stopped contestant has left open.
      pool.on('error', () => {})
      try {
        await createTables(pool)
        await emptyTables(pool)
        return await run({ postgresUrl, redisUrl: redis.url, concurrency }, pool)
      } finally {
        await pool.end()
        await drop(postgres.adminUrl, database)
      }
    },
    async close() {
      await Promise.all([postgres.stop(), redis.stop()])
    },
  }
}

/** For those who close; what a library leaves open is cut off after that. */
const patience = { everyMs: 20, atMostMs: 5_000 }

async function drop(adminUrl: string, database: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  // A pool says that it has ended before its connections have; one that is cut off then ends the whole run.
  await until(async () => {
    const { rows } = await client.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1 LIMIT 1', [database])
    return rows.length === 0
  }, patience)
  await client.query(`DROP DATABASE ${client.escapeIdentifier(database)} WITH (FORCE)`)
  await client.end()
}
