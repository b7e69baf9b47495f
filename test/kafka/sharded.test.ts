import { describe, expect, onTestFinished, test } from 'vitest'
import { justonce, sharded } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { outgoing } from '../../src/testing/reading.ts'
import { requireServer } from '../servers/require.ts'
import { openTopic } from './open-kafka.ts'

const kafka = await requireServer('kafka')

describe.skipIf(!kafka.available)('several databases behind one topic', () => {
  test('each message takes effect once in its shard, in the order of its key', async () => {
    const topic = await openTopic(kafka.url)
    const shards = { eu: sqliteStore({ path: ':memory:' }), us: sqliteStore({ path: ':memory:' }) }
    const done: Record<string, string[]> = { eu: [], us: [] }
    const app = sharded({
      from: topic.connect(),
      shards,
      shardOf: ({ headers }) => headers.tenant as string,
      unknown: 'eu',
      app({ shard, store, from }) {
        const app = justonce({ name: shard, store, from, log: false, inFlight: { messages: 20 } })
        app.on('note.created', { name: 'note', ordered: { by: 'key' } }, ({ id, key }, { tx }) => {
          tx.prepare('INSERT INTO effects VALUES (?)').run(id)
          done[shard]?.push(`${key}/${id}`)
        })
        return app
      },
    })
    onTestFinished(async () => {
      await app.stop()
      for (const store of Object.values(shards)) await store.close()
      await topic.close()
    })
    for (const store of Object.values(shards)) {
      await store.schema.install()
      await store.transaction(async (tx) => tx.exec('CREATE TABLE effects (id text)'))
    }
    const producer = topic.connect()
    const messages = Array.from({ length: 400 }, (_, index) => {
      const tenant = index % 2 === 0 ? 'eu' : 'us'
      const key = `k${index % 5}`
      return { ...outgoing(`${tenant}-${String(index).padStart(3, '0')}`, { key }), headers: { tenant } }
    })
    await producer.publish([...messages, ...messages.slice(100, 200)])
    await app.start()
    for (const shard of ['eu', 'us'])
      await expect.poll(() => done[shard]?.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(200)
    for (const [shard, its] of Object.entries(done)) {
      const ids = messages.filter(({ headers }) => headers.tenant === shard)
      expect([...its].sort()).toEqual(ids.map(({ id, key }) => `${key}/${id}`).sort())
      for (const key of ['k0', 'k1', 'k2', 'k3', 'k4']) {
        const ofKey = its.filter((each) => each.startsWith(`${key}/`))
        expect(ofKey).toEqual(ofKey.toSorted())
      }
    }
  }, 120_000)

  test('positions in the store are refused, because a partition has messages of several shards', async () => {
    const topic = await openTopic(kafka.url)
    onTestFinished(() => topic.close())
    const open = () =>
      sharded({
        from: topic.connect({ dedup: 'position' }),
        shards: { eu: sqliteStore({ path: ':memory:' }) },
        shardOf: () => 'eu',
        unknown: 'eu',
        app: ({ store, from }) => justonce({ store, from }),
      })
    expect(open).toThrow(/keeps positions in the store/)
  })
})
