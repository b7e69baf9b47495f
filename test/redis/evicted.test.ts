import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../../src/testing/waiting.ts'
import { requireServer } from '../servers/require.ts'
import { connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')
const bytes = new TextEncoder().encode('{}')
const message = { envelope: bytes, body: bytes }

describe.skipIf(!redis.available)('a row that the server has evicted does not stop the others', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  function open() {
    const tag = freshTag()
    const store = isolatedStore(client, tag)
    const append = (ids: readonly string[], key?: string) =>
      store.transaction((tx) =>
        store.outbox.append(
          tx,
          ids.map((id) => ({ id, key, message })),
        ),
      )
    const lease = async (forMs: number) => (await store.outbox.lease(10, forMs)).map(({ id }) => id)
    const evict = (row: string) => client.del(`justonce:{${tag}}:${row}`)
    return { store, append, lease, evict }
  }

  test('in the outbox, before it is leased', async () => {
    const { store, append, lease, evict } = open()
    await append(['o1', 'o2', 'o3'])
    await evict('outbox:1')
    expect(await lease(60_000)).toEqual(['o2', 'o3'])
    expect(await store.outbox.count()).toEqual({ pending: 2, dead: 0 })
  })

  test('in the outbox, while it is leased', async () => {
    const { store, append, lease, evict } = open()
    await append(['o1', 'o2'])
    expect(await lease(1)).toEqual(['o1', 'o2'])
    await evict('outbox:1')
    const again = await eventually(async () => {
      const leased = await lease(60_000)
      return leased.length === 0 ? undefined : leased
    }, 'the other one being leased again')
    expect(again).toEqual(['o2'])
    expect(await store.outbox.count()).toEqual({ pending: 1, dead: 0 })
  })

  test('in the outbox, among others of its key', async () => {
    const { append, lease, evict } = open()
    await append(['o1', 'o2', 'o3', 'o4'], 'k')
    await evict('outbox:2')
    expect(await lease(60_000)).toEqual(['o1', 'o3', 'o4'])
  })

  test('among those that have been given up', async () => {
    const { store, append, evict } = open()
    await append(['o1', 'o2'])
    const leased = await store.outbox.lease(10, 60_000)
    await store.outbox.markFailed(leased, { delayMs: 0, error: 'no', dead: true })
    await evict('outbox:1')
    expect((await store.outbox.listDead(10)).map(({ id }) => id)).toEqual(['o2'])
    expect(await store.outbox.retryDead()).toBe(1)
  })

  test('among parked messages', async () => {
    const { store, evict } = open()
    const row = (key: string) => ({
      ...{ handler: 'tag-note', key, messageId: key, type: 'note.created', source: '', message, step: 0 },
      ...({ state: 'waiting', attempts: 1, reason: 'ERROR', errors: '[]', shape: '', independent: true } as const),
      ...{ orderKey: undefined, delayMs: 0 },
    })
    await store.transaction((tx) => store.parking.park(tx, ['m1', 'm2', 'm3'].map(row)))
    await evict('parked:["tag-note","m1"]')
    const options = { limit: 1, forMs: 60_000, handlers: ['tag-note'], pastDead: [], maxBytes: 1_000 }
    const reserved = [await store.parking.reserve(options), await store.parking.reserve(options)]
    expect(reserved.flat().map(({ key }) => key)).toEqual(['m2', 'm3'])
    expect(await store.parking.count()).toBe(2)
  })
})
