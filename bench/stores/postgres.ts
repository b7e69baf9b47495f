import pg from 'pg'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { startPostgres } from '../../test/servers/postgres.ts'
import { applyAlone, applyTransfer } from '../transfers/effect.ts'
import { createTables, emptyTables, seenIn } from '../transfers/tables.ts'
import { startTransfers } from './app.ts'
import { concurrency, type Ground, poolSize, statements } from './ground.ts'

export async function openPostgres(): Promise<Ground> {
  const server = await startPostgres()
  const pool = new pg.Pool({ connectionString: await server.createDatabase('bench'), max: poolSize })
  await createTables(pool)
  return {
    name: 'postgres',
    about: `Postgres ${server.version} over pg, fsync and synchronous_commit on`,
    bareConcurrency: concurrency,
    applyBare: (id, transfer) => applyAlone(pool, id, transfer),
    startApp: (transport) => startTransfers(postgresStore({ pool }), transport, applyTransfer),
    empty: () => emptyTables(pool),
    look: async () => seenIn((await pool.query(statements.look)).rows[0]),
    async close() {
      await pool.end()
      await server.stop()
    },
  }
}
