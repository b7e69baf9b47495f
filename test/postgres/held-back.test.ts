import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { parkedMessage } from '../../src/testing/sample-records.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const server = await requireServer('postgres')
const heldBack = 2_000
const looks = 5

/** How many rows of the table were read by sessions that have ended. */
async function readBy(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ read: string }>(
      `SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0) AS read FROM pg_stat_user_tables WHERE relname = 'justonce_parked'`,
    )
    return Number(rows[0]?.read)
  } finally {
    await client.end()
  }
}

async function using(url: string, work: (store: PostgresStore<pg.PoolClient>) => Promise<unknown>): Promise<void> {
  const pool = new pg.Pool({ connectionString: url })
  await work(postgresStore({ pool }))
  await pool.end()
}

describe.skipIf(!server.available)('calls of an effect that is held to a rate', () => {
  test('are not read by those who look for something else', async () => {
    const url = await createDatabase(server.url)
    await using(url, async (store) => {
      await store.schema.install()
      const rows = Array.from({ length: heldBack }, (_, index) => parkedMessage(`k${index}`, { handler: '!slow' }))
      await store.transaction((tx) => store.parking.park(tx, rows))
    })
    const before = await readBy(url)
    const wanted = [
      { handler: 'tag-note', type: 'note.created' },
      { handler: '!fast', type: undefined },
    ]
    await using(url, async ({ parking }) => {
      for (let look = 0; look < looks; look++)
        expect(await parking.reserve({ limit: 20, maxBytes: 1_000_000, forMs: 1, wanted, pastDead: [] })).toEqual([])
    })
    expect(await readBy(url)).toBe(before)
  })
})
