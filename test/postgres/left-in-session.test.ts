import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'

const server = await requireServer('postgres')

/** What belongs to a session outlives the transaction of the handler that made it. */
describe.skipIf(!server.available).each(poolsOf)('$client: what a handler leaves in its session', ({ open }) => {
  let shared: SharedPool
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    shared = open({ url, max: 1 })
    await shared.store.schema.install()
  })
  afterEach(async () => {
    await shared.close()
  })

  const handled = async (id: string, text: string, then = () => {}) => {
    const app = justonce({ store: shared.store })
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async (_, { tx }) => {
      await shared.run(tx, text)
      then()
    })
    const { handlers } = await app.deliver({ id, type: 'note.created', body: {} })
    return handlers['tag-note']
  }

  test.each([
    'CREATE TEMP TABLE scratch (id int)',
    'CREATE TEMPORARY TABLE scratch ON COMMIT DELETE ROWS AS SELECT 1 AS id',
    'SELECT 1 AS id INTO TEMP scratch',
    'DECLARE mine CURSOR WITH HOLD FOR SELECT 1',
    'PREPARE mine AS SELECT 1',
  ])('does not meet the next message: %s', async (text) => {
    expect(await handled('m1', text)).toEqual({ status: 'processed' })
    expect(await handled('m2', text)).toEqual({ status: 'processed' })
  })

  test.each([
    ['succeeds', 'processed', () => {}],
    [
      'fails',
      'parked',
      () => {
        throw new Error('no')
      },
    ],
  ] as const)('a lock of the session is not held by the next message when the handler %s', async (_, status, then) => {
    expect(await handled('m1', 'SELECT pg_advisory_lock(7)', then)).toMatchObject({ status })
    const locks = `SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`
    expect([...(await shared.store.transaction((tx) => shared.run(tx, locks)))]).toEqual([])
  })

  test('a session in which nothing is left is used again', async () => {
    const pids = new Set<unknown>()
    const note = 'SELECT pg_backend_pid() AS pid'
    for (const id of ['m1', 'm2']) {
      const text = 'CREATE TEMP TABLE scratch ON COMMIT DROP AS SELECT 1 AS id'
      expect(await handled(id, text)).toEqual({ status: 'processed' })
      const [row] = await shared.store.transaction((tx) => shared.run(tx, note))
      pids.add(row?.pid)
    }
    expect(pids.size).toBe(1)
  })
})
