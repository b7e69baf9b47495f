import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { type PostgresStore, postgresStore } from '../../src/stores/postgres/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const server = await requireServer('postgres')

type Handle = (id: string, tx: pg.PoolClient) => Promise<void>

/** As another process: with a pool, a store and a transport of its own. */
function openApp(url: string, handle: Handle) {
  const pool = new pg.Pool({ connectionString: url, max: 8 })
  const store: PostgresStore<pg.PoolClient> = postgresStore({ pool, listen: false })
  const batch = { max: 50, budgetMs: 20 }
  const transport = queueTransport({ store, queue: 'notes', pollMs: 20 })
  const app = justonce({ store, transport, heartbeat: false, concurrency: 4, batch })
  app.on('note.created', 'tag-note', ({ id }, { tx }) => handle(id, tx))
  onTestFinished(async () => {
    await app.stop()
    await store.close()
    await pool.end()
  })
  return { app, pool, store }
}

const messages = 100
/** What is handled within the time of two batches, if a message takes longer than a batch should: one in each of four workers, twice. */
const held = 8

describe.skipIf(!server.available)('two apps on one queue of the database', () => {
  test('one whose handlers are slow leaves the other all but what it handles soon', async () => {
    const url = await createDatabase(server.url)
    const gate = Promise.withResolvers<void>()
    onTestFinished(() => gate.resolve())
    const write = (id: string, tx: pg.PoolClient) => tx.query('INSERT INTO tags VALUES ($1)', [id])
    const slow = 40
    let begun = 0
    const first = openApp(url, async (id, tx) => {
      await write(id, tx)
      // Longer than the budget of a batch. Only the first ones end.
      if (++begun <= slow) await pause(25)
      else await gate.promise
    })
    let besides = 0
    const second = openApp(url, async (id, tx) => {
      await write(id, tx)
      besides++
    })
    await first.store.schema.install()
    await first.pool.query('CREATE TABLE tags (note text NOT NULL)')
    await first.app.publishAll(
      Array.from({ length: messages }, (_, index) => ({ id: `m${index}`, type: 'note.created', body: {} })),
    )
    await first.app.start()
    await expect.poll(() => begun).toBeGreaterThan(slow)

    await second.app.start()
    await expect.poll(() => besides).toBeGreaterThanOrEqual(messages - slow - held)
    gate.resolve()
    const tags = async () =>
      (await first.pool.query('SELECT count(*)::int AS all, count(DISTINCT note)::int AS of FROM tags')).rows
    await expect.poll(tags).toEqual([{ all: messages, of: messages }])
  })
})
