import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fixed, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { type CountingProxy, countingProxy } from './counting-proxy.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'

const server = await requireServer('postgres')
const clients = poolsOf.filter(({ client }) => client !== 'pg that pipelines')

describe.skipIf(!server.available).each(clients)('$client: round trips when messages fail', ({ open }) => {
  let proxy: CountingProxy
  let shared: SharedPool
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    proxy = await countingProxy(url, ['tag-note'])
    shared = open({ url: proxy.url(url) })
    await shared.store.schema.install()
    await shared.query('CREATE TABLE tags (note text NOT NULL)')
  })
  afterEach(async () => {
    await shared.close()
    await proxy.stop()
  })

  test('what a failure costs besides the statements of handlers: at most four for each transaction, in whatever parts', async () => {
    const transport = memoryTransport()
    const app = justonce({ store: shared.store, transport, concurrency: 1, batch: { max: 100, budgetMs: 60_000 } })
    const failing = new Set<string>()
    const done = new Set<string>()
    let statements = 0
    const run = async (tx: unknown, text: string) => {
      statements++
      await shared.run(tx, text)
    }
    const retry = { attempts: 3, backoff: fixed(1) }
    app.on('note.created', { name: 'tag-note', retry }, async ({ id }, { tx, attempt }) => {
      await run(tx, `INSERT INTO tags VALUES ('${id}')`)
      if (failing.has(id) && attempt === 1) throw new Error('for once')
      await run(tx, `SELECT count(*) FROM tags WHERE note = '${id}'`)
      done.add(id)
    })
    await app.start()
    const handled = async (
      name: string,
    ): Promise<{ readonly trips: readonly number[]; readonly statements: number }> => {
      const ids = Array.from({ length: 100 }, (_, index) => `${name}-${String(index).padStart(3, '0')}`)
      const before = transport.settled().length
      proxy.trips()
      statements = 0
      transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
      const until = performance.now() + 50_000
      const isOver = () => ids.every((id) => done.has(id)) && transport.settled().length >= before + 100
      while (!isOver() && performance.now() < until) await pause(5)
      expect(ids.filter((id) => !done.has(id))).toEqual([])
      // The commit of the retry may be on its way.
      await shared.query('SELECT 1')
      return { trips: proxy.trips(), statements }
    }
    // Until everything is prepared, and the batch takes all that waits.
    await handled('warm')
    for (const name of ['first', 'second']) {
      failing.add(`${name}-055`)
      await handled(name)
    }
    failing.add('third-055')
    const { trips, statements: own } = await handled('third')
    await app.stop()
    // Each batch has begun, ended its last part and committed; so have the message alone and its retry.
    const all = trips.reduce((sum, each) => sum + each, 0)
    expect(all - own).toBeLessThanOrEqual(4 * trips.length)
    // Of the others only those run again that shared a part with it.
    expect(own).toBeLessThanOrEqual(200 + 3 + 2 * 15)
  }, 120_000)
})
