import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { justonce, once } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { type CountingProxy, countingProxy } from './counting-proxy.ts'
import { poolsOf, type SharedPool } from './opened-clients.ts'

const server = await requireServer('postgres')

/** A client that pipelines by itself cannot take several statements as one: its transactions are seen to be open first. */
const extra = { pg: 0, 'pg that pipelines': 1, 'postgres.js': 0 }
/** And none of its writes travels with the commit. */
const beforeCommit = { pg: 0, 'pg that pipelines': 1, 'postgres.js': 0 }

describe.skipIf(!server.available).each(poolsOf)('$client: round trips', ({ client, open }) => {
  const more = extra[client as keyof typeof extra]
  const alone = beforeCommit[client as keyof typeof beforeCommit]
  let proxy: CountingProxy
  let shared: SharedPool
  beforeEach(async () => {
    const url = await createDatabase(server.url)
    proxy = await countingProxy(url, ['tag-note', 'charge'])
    shared = open({ url: proxy.url(url) })
    await shared.store.schema.install()
    await shared.query('CREATE TABLE tags (note text NOT NULL)')
    // So that whatever is prepared is prepared.
    for (const key of ['a', 'b']) await once(shared.store, { handler: 'warm', key }, () => {})
    proxy.trips()
  })
  afterEach(async () => {
    await shared.close()
    await proxy.stop()
  })

  const twoStatements = async (tx: unknown, id: string) => {
    await shared.run(tx, `INSERT INTO tags VALUES ('${id}')`)
    await shared.run(tx, `SELECT count(*) FROM tags WHERE note = '${id}'`)
  }

  interface Handling {
    readonly interleave?: boolean
    readonly keepResult?: boolean
    readonly publishes?: boolean
  }

  async function handled(ids: readonly string[], { publishes, ...options }: Handling = {}): Promise<number[]> {
    const transport = memoryTransport()
    const app = justonce({
      store: shared.store,
      from: transport,
      to: memoryTransport(),
      concurrency: 1,
      batch: { max: 50, budgetMs: 60_000 },
    })
    app.on('note.created', { name: 'tag-note', ...options }, async ({ id }, { tx, publish }) => {
      await twoStatements(tx, id)
      if (publishes) await publish('note.tagged', { id })
    })
    await app.start()
    proxy.trips()
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: {} })))
    const until = performance.now() + 10_000
    while (transport.settled().length < ids.length && performance.now() < until) await pause(5)
    await app.stop()
    expect(transport.settled()).toHaveLength(ids.length)
    return proxy.trips()
  }

  test('a lone message with two statements: as many as BEGIN, the statements and COMMIT', async () => {
    expect(await handled(['m1'])).toEqual([4 + more])
    expect(await handled(['m2'])).toEqual([4 + more])
  })

  test('n messages in a batch, one after the other: 2n + 2', async () => {
    const batch = (turn: number) => Array.from({ length: 8 }, (_, index) => `n${turn}-${index}`)
    // Until the statement for several claims is prepared.
    await handled(batch(1))
    expect(await handled(batch(2))).toEqual([18 + more])
  })

  test('n messages that interleave: as many as a lone one, whatever n is', async () => {
    const batch = (size: number) => Array.from({ length: size }, (_, index) => `i${size}-${index}`)
    // Until the statement for several claims is prepared.
    await handled(batch(2), { interleave: true })
    // It can even be fewer: while some are still waiting for an answer, others go on.
    for (const size of [8, 24]) {
      const trips = await handled(batch(size), { interleave: true })
      // One batch, or two.
      expect([1, 2]).toContain(trips.length)
      expect(Math.max(...trips)).toBeLessThanOrEqual(4 + more)
    }
  })

  test('a message that this app has just handled: none', async () => {
    const transport = memoryTransport()
    const app = justonce({ store: shared.store, transport, heartbeat: false, concurrency: 1 })
    app.on('note.created', 'tag-note', ({ id }, { tx }) => twoStatements(tx, id))
    await app.start()
    proxy.trips()
    for (const settled of [1, 2]) {
      transport.send({ id: 'a1', type: 'note.created', body: {} })
      const until = performance.now() + 10_000
      while (transport.settled().length < settled && performance.now() < until) await pause(5)
      expect(transport.settled()).toHaveLength(settled)
    }
    await app.stop()
    expect(proxy.trips()).toEqual([4 + more])
  })

  test('messages that are known already: one more to look, and none for it when the last ones were known, too', async () => {
    await handled(['d1', 'd2'])
    expect(await handled(['d1', 'd2'])).toEqual([3 + more])
    expect(await handled(['d1', 'd2'])).toEqual([2 + more])
  })

  test('results and published messages travel with the commit, those of a batch, too', async () => {
    const batch = (turn: number) => Array.from({ length: 8 }, (_, index) => `r${turn}-${index}`)
    const both = { keepResult: true, publishes: true }
    // Until everything is prepared.
    await handled(['r0'], both)
    await handled(batch(1), both)
    // More than a kilobyte is too much for postgres.js.
    const before = client === 'postgres.js' ? 1 : alone * 2
    expect(await handled(['r9'], both)).toEqual([4 + more + before])
    expect(await handled(batch(2), both)).toEqual([18 + more + before])
  })

  test('once() with two statements and without a result', async () => {
    await once(shared.store, { handler: 'charge', key: 'k1' }, (tx) => twoStatements(tx, 'k1'))
    expect(proxy.trips()).toEqual([4 + more])
  })

  test('once() with a result, which travels with the commit', async () => {
    // Until the statement for a result is prepared.
    await once(shared.store, { handler: 'charge', key: 'k0' }, () => 1)
    proxy.trips()
    await once(shared.store, { handler: 'charge', key: 'k2' }, async (tx) => {
      await twoStatements(tx, 'k2')
      return { charged: 7 }
    })
    expect(proxy.trips()).toEqual([4 + more + alone])
  })

  test('once() again', async () => {
    for (const expected of [2 + alone, 3, 2]) {
      await once(shared.store, { handler: 'charge', key: 'k3' }, () => 1)
      expect(proxy.trips()).toEqual([expected + more])
    }
  })
})
