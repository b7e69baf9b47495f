import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { newSql } from './js-context.ts'
import { newPool } from './pg-context.ts'

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('news of queued messages', () => {
  let url: string
  let admin: pg.Pool
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
    admin = newPool({ url, pool: { max: 2 } })
  })
  afterAll(() => admin.end())

  const clients = [
    {
      client: 'pg',
      open: (application_name: string) => {
        const pool = newPool({ url, pool: { application_name } })
        return { store: postgresStore({ pool }), end: () => pool.end() }
      },
    },
    {
      client: 'postgres.js',
      open: (application_name: string) => {
        const sql = newSql({ url, client: { connection: { application_name } } })
        return { store: postgresStore({ sql }), end: () => sql.end({ timeout: 1 }) }
      },
    },
  ] as const

  test.each(clients)('$client: reach those who listen to that queue, and nobody after the stop', async ({ open }) => {
    const { store, end } = open('hears')
    onTestFinished(end)
    const notes = waker()
    const others = waker()
    const stopNotes = await store.queue.listen?.('notes', notes.wake)
    const stopOthers = await store.queue.listen?.('others', others.wake)
    await store.queue.announce?.('notes')
    await notes.next()
    await stopNotes?.()
    await store.queue.announce?.('notes')
    await store.queue.announce?.('others')
    await others.next()
    expect([notes.count(), others.count()]).toEqual([1, 1])
    await stopOthers?.()
    await store.close()
  })

  test.each(clients)('$client: a lost connection is made anew, and everyone is woken', async ({ client, open }) => {
    // The sessions of others that were closed before may still be ending.
    const name = `loses ${client}`
    const { store, end } = open(name)
    onTestFinished(end)
    const notes = waker()
    await store.queue.listen?.('notes', notes.wake)
    const { rowCount } = await admin.query(
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name = $1 AND query ILIKE '%listen "%'`,
      [name],
    )
    expect(rowCount).toBe(1)
    // Something may have been sent meanwhile.
    await notes.next()
    await store.queue.announce?.('notes')
    await notes.next()
    await store.close()
  })

  test('a store with one connection, or with listen: false, does not listen', async () => {
    const pool = newPool({ url, pool: { max: 1 } })
    onTestFinished(() => pool.end())
    expect(postgresStore({ pool }).queue.listen).toBeUndefined()
    expect(postgresStore({ pool: admin, listen: false }).queue.listen).toBeUndefined()
  })
})

function waker() {
  let count = 0
  let woken = Promise.withResolvers<void>()
  return {
    count: () => count,
    wake() {
      count++
      woken.resolve()
    },
    async next() {
      await woken.promise
      woken = Promise.withResolvers()
    },
  }
}
