import { setTimeout as pause } from 'node:timers/promises'
import type { Pool, PoolConnection } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { justonce, once } from '../../src/index.ts'
import { type MysqlStore, mysqlStore } from '../../src/stores/mysql/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { note } from '../app/open-app.ts'
import { openEngine } from '../app/open-engine.ts'
import { createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { type CountingProxy, countingProxy } from './counting-proxy.ts'
import { newPool } from './mysql-context.ts'

const mariadb = await requireServer('mariadb')

/** The session and the savepoint, the claim, the savepoint again and the commit: one statement at a time. */
const around = 5

/**
 * Once a second each session reads who its database is, which is one trip more, and on a busy machine any of them may be that
 * one. So the same is done several times, and the fewest trips count.
 */
async function fewest(times: number, each: (time: number) => Promise<number[]>): Promise<number> {
  const counted: number[] = []
  for (let time = 0; time < times; time++) counted.push(...(await each(time)))
  expect(counted).toHaveLength(times)
  return Math.min(...counted)
}

describe.skipIf(!mariadb.available)('mysql2: round trips', () => {
  let proxy: CountingProxy
  let pool: Pool
  let store: MysqlStore<PoolConnection>
  beforeEach(async () => {
    const url = await createMysqlDatabase(mariadb.url)
    proxy = await countingProxy(url, ['tag-note', 'charge'])
    pool = newPool({ url: proxy.url(url), pool: { connectionLimit: 1 } })
    store = mysqlStore({ pool })
    await store.schema.install()
    await pool.query('CREATE TABLE tags (note varchar(50) NOT NULL)')
    await once(store, { handler: 'warm', key: 'a' }, () => {})
    proxy.trips()
  })
  afterEach(async () => {
    await pool.end()
    await proxy.stop()
  })

  const twoStatements = async (tx: PoolConnection, id: string) => {
    await tx.query('INSERT INTO tags VALUES (?)', [id])
    await tx.query('SELECT count(*) FROM tags WHERE note = ?', [id])
  }

  async function handled(ids: readonly string[]): Promise<number[]> {
    const transport = memoryTransport()
    const app = justonce({ store, transport, heartbeat: false, concurrency: 1, batch: { max: 50, budgetMs: 60_000 } })
    app.on('note.created', 'tag-note', ({ id }, { tx }) => twoStatements(tx, id))
    await app.start()
    proxy.trips()
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
    const until = performance.now() + 10_000
    while (transport.settled().length < ids.length && performance.now() < until) await pause(5)
    await app.stop()
    expect(transport.settled()).toHaveLength(ids.length)
    return proxy.trips()
  }

  test('a lone message with two statements', async () => {
    expect(await fewest(5, (time) => handled([`m${time}`]))).toBe(2 + around)
  })

  test('n messages in a batch: all but their statements is paid once', async () => {
    const ids = (time: number) => Array.from({ length: 8 }, (_, index) => `n${time}-${index}`)
    expect(await fewest(5, (time) => handled(ids(time)))).toBe(16 + around)
  })

  test('once() with two statements, and with a result: one more to write it', async () => {
    const charged = async (time: number, result: unknown) => {
      const key = `${time}-${result}`
      await once(store, { handler: 'charge', key }, async (tx) => {
        await twoStatements(tx, key)
        return result
      })
      return proxy.trips()
    }
    expect(await fewest(5, (time) => charged(time, undefined))).toBe(2 + around)
    expect(await fewest(5, (time) => charged(time, 7))).toBe(3 + around)
  })

  test('a message that this app has just handled: none', async () => {
    const transport = memoryTransport()
    const app = justonce({ store, transport, heartbeat: false, concurrency: 1 })
    app.on('note.created', 'tag-note', ({ id }, { tx }) => twoStatements(tx, id))
    await app.start()
    proxy.trips()
    for (const settled of [1, 2]) {
      transport.send({ id: 'd1', type: 'note.created', body: {} })
      const until = performance.now() + 10_000
      while (transport.settled().length < settled && performance.now() < until) await pause(5)
      expect(transport.settled()).toHaveLength(settled)
    }
    await app.stop()
    expect(proxy.trips()).toHaveLength(1)
  })

  test('a retry that fails: 6 to reserve it, 4 to book it, and 10 for one transaction with two statements', async () => {
    const { on, handle, retry, eventsOf } = openEngine({ store: store as never })
    on('note.created', { name: 'tag-note', retry: { attempts: 6, backoff: () => 0 } }, async ({ id }, { tx }) => {
      await twoStatements(tx as never, id)
      throw new Error('no')
    })
    await handle(note('m1'))
    proxy.trips()
    const counted: number[][] = []
    for (let attempt = 2; attempt <= 6; attempt++) {
      await retry()
      counted.push(proxy.trips())
    }
    expect(eventsOf('parked').map(({ attempts }) => attempts)).toEqual([1, 2, 3, 4, 5, 6])
    const sum = (trips: readonly number[]) => trips.reduce((all, each) => all + each, 0)
    // The savepoint of the part, the way back to it, and what became of the message.
    expect(counted.sort((a, b) => sum(a) - sum(b))[0]).toEqual([6, 4, 2 + around + 3])
  })
})
