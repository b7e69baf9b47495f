import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const server = await requireServer('postgres')

const waiting = 20_000
const keys = 500
/** All messages of so many keys are behind one that is being handled. */
const blockedKeys = 100

/** A plan that suits a short queue is fast in every test and stops a long one. So rows are counted, not time. */
describe.skipIf(!server.available)('what is read to take and remove 100 of 20,000 messages', () => {
  let pool: pg.Pool
  let store: PostgresStore<pg.PoolClient>
  beforeEach(async () => {
    pool = new pg.Pool({ connectionString: await createDatabase(server.url), max: 2 })
    store = postgresStore({ pool })
    await store.schema.install()
    await pool.query('ALTER TABLE justonce_queue SET (autovacuum_enabled = off)')
  })
  afterEach(async () => {
    await store.close()
    await pool.end()
  })

  const send = (queue: string, count: number) =>
    store.queue.send(
      undefined,
      queue,
      Array.from({ length: count }, (_, index) => ({
        key: index % 2 === 0 ? undefined : String(index % keys),
        message: { envelope: Buffer.from('{}'), body: Buffer.from(String(index)) },
      })),
    )

  const take = () => store.queue.take('notes', { limit: 100, visibilityMs: 600_000 })
  const removeSome = async () => {
    const tickets = (await take()).map(({ ticket }) => ticket)
    await store.queue.remove(undefined, 'notes', tickets)
    return tickets.length
  }

  /** How many rows of the table, and entries of its indexes, were read by what is done. */
  async function readBy(work: () => Promise<unknown>): Promise<number> {
    const before = await readSoFar()
    await work()
    return (await readSoFar()) - before
  }

  async function readSoFar(): Promise<number> {
    // What a session has counted is reported when it ends, at the latest.
    await pool.end()
    pool = new pg.Pool({ connectionString: pool.options.connectionString, max: 2 })
    store = postgresStore({ pool })
    const { rows } = await pool.query<{ read: string }>(`
      SELECT seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'justonce_queue') AS read
      FROM pg_stat_user_tables WHERE relname = 'justonce_queue'`)
    return Number(rows[0]?.read)
  }

  const knowledge = {
    nothing: async () => {
      await send('notes', waiting)
    },
    'what is there': async () => {
      await send('notes', waiting)
      await pool.query('ANALYZE justonce_queue')
    },
    'what was there when the queue was empty and another was long': async () => {
      await send('others', waiting)
      await pool.query('ANALYZE justonce_queue')
      await send('notes', waiting)
    },
    'what was there when nothing was': async () => {
      await pool.query('VACUUM ANALYZE justonce_queue')
      await send('notes', waiting)
    },
  }

  test.each(Object.entries(knowledge))('if the planner knows %s', async (_, prepare) => {
    await prepare()
    const held = await store.queue.take('notes', { limit: 2 * blockedKeys, visibilityMs: 600_000 })
    expect(held).toHaveLength(2 * blockedKeys)
    for (let turn = 0; turn < 3; turn++) await removeSome()
    const read = await readBy(async () => expect(await removeSome()).toBe(100))
    expect(read).toBeLessThan(waiting / 4)
    expect(await readBy(() => store.queue.hide('notes', held, 600_000))).toBeLessThan(waiting / 4)
  })
})
