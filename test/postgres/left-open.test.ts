import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { once } from '../../src/index.ts'
import { request, toQueue } from '../../src/testing/sample-records.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'
import { newPool } from './pg-context.ts'
import { daysFromNow } from './retention-steps.ts'

const server = await requireServer('postgres')

/** What other users of a pool give back: `client.release()` in a `finally`, without a COMMIT or a ROLLBACK before it. */
const leftovers = [
  { what: 'that has only read', left: 'BEGIN; SELECT 1' },
  { what: 'that has written', left: 'BEGIN; INSERT INTO others VALUES (1)' },
  { what: 'that has failed', left: 'BEGIN; SELECT 1 / 0' },
  { what: 'that is stricter', left: 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM others' },
]
const yesterday = daysFromNow(-1)

describe.skipIf(!server.available).each(poolsOf)('$client: a transaction that somebody has left open', ({ open }) => {
  let admin: pg.Pool
  let shared: SharedPool
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    admin = newPool({ url })
    await admin.query('CREATE TABLE effects (key text); CREATE TABLE others (n int)')
    shared = open({ url })
    await shared.store.schema.install()
  })
  afterEach(async () => {
    await shared.close()
    await admin.end()
  })

  const count = async (table: string) => (await admin.query(`SELECT FROM ${table}`)).rowCount
  const charge = (key: string) =>
    once(shared.store, { handler: 'charge', key }, (tx) => shared.run(tx, `INSERT INTO effects VALUES ('${key}')`))

  test.each(leftovers)('one $what is undone, and work is done in one of its own', async ({ left }) => {
    for (const key of ['k1', 'k2', 'k1', 'k2']) {
      await shared.leave(left)
      const isKnown = (await count('effects')) === 2
      expect(await charge(key)).toMatchObject({ status: isKnown ? 'duplicate' : 'processed' })
    }
    expect([await count('effects'), await count('others')]).toEqual([2, 0])
  })

  test.each(leftovers)('beside one $what a statement of its own is committed', async ({ left }) => {
    await shared.leave(left)
    await shared.store.queue.send(undefined, 'notes', [toQueue('m1')])
    await shared.leave(left)
    expect(await shared.store.queue.take('notes', { limit: 1, visibilityMs: 60_000 })).toHaveLength(1)
    await shared.leave(left)
    expect(await shared.store.queue.count('notes')).toMatchObject({ ready: 0, hidden: 1 })
    expect([await count('justonce_queue WHERE deliveries = 1'), await count('others')]).toEqual([1, 0])
  })

  test.each(leftovers)('one $what does not keep a day of the inbox from being made', async ({ left }) => {
    await shared.leave(left)
    await shared.store.retention?.prepare(0, yesterday)
    await shared.leave(left)
    await shared.store.transaction((tx) => shared.store.inbox.claim(tx, [{ ...request('m1'), born: yesterday }]))
    expect([await count('justonce_inbox'), await count('others')]).toEqual([1, 0])
  })
})
