import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { type Duty, justonce } from '../../src/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const server = await requireServer('postgres')
const pollMs = 50
const settlingMs = 1_000
const idleMs = 2_500

/** An app that can publish, delay, schedule and intend, and has nothing to do. */
async function openIdle() {
  const url = await createDatabase(server.url)
  const said: string[] = []
  class ListeningClient extends pg.Client {
    // biome-ignore lint/suspicious/noExplicitAny: passes everything on, whichever of the overloads it is
    override query(...given: any[]): any {
      said.push(typeof given[0] === 'string' ? given[0] : given[0].text)
      return Reflect.apply(super.query, this, given)
    }
  }
  const pool = new pg.Pool({ connectionString: url, Client: ListeningClient })
  const store = postgresStore({ pool })
  await store.schema.install()
  const nowhere = { destination: 'nowhere', publish: async () => [], close: async () => {} }
  const only: readonly Duty[] = ['relay', 'retries', 'schedules', 'intents']
  const app = justonce({ store, to: { events: nowhere }, only, pollMs })
  app.effect('email.welcome', { run: () => {}, concurrency: 2, perSecond: 10 })
  app.schedule('yearly', { cron: '@yearly', type: 'year.ended', body: {} })
  await app.start()
  return { app, pool, url, said }
}

/** What the server has counted for the tables of this database, by sessions that have ended. */
async function countedBy(url: string): Promise<{ readonly written: number; readonly read: number }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ written: string; read: string }>(`
      SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) AS written, coalesce(sum(seq_tup_read + idx_tup_fetch), 0) AS read
      FROM pg_stat_user_tables WHERE relname IN ('justonce_queue', 'justonce_parked', 'justonce_inbox')`)
    return { written: Number(rows[0]?.written), read: Number(rows[0]?.read) }
  } finally {
    await client.end()
  }
}

// All of these are upper bounds: on a slow machine there is less of everything.
describe.skipIf(!server.available)('an outbox with nothing to do', () => {
  test('asks three small questions in each poll at most, the relay far fewer, and reads and writes no row', async () => {
    const { app, pool, url, said } = await openIdle()
    await vi.waitFor(() => expect(said.some((text) => text.includes('LISTEN'))).toBe(true), { timeout: 20_000 })
    await pause(settlingMs)
    said.length = 0
    const begunAt = performance.now()
    await pause(idleMs)
    const polls = (performance.now() - begunAt) / pollMs + 1
    const asked = [...said]
    await app.stop()
    await pool.end()
    // Due retries and delays, due intents, redrives.
    expect(asked.length).toBeLessThanOrEqual(polls * 3.5)
    expect(asked.filter((text) => text.includes('WITH head AS')).length).toBeLessThanOrEqual(polls / 4)
    expect(asked.filter((text) => /BEGIN|COMMIT|NOTIFY/.test(text))).toEqual([])
    expect(await countedBy(url)).toEqual({ written: 0, read: 0 })
  })
})
