import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
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
    const send = (texts: readonly string[], key?: string) =>
      store.queue.send(
        undefined,
        'notes',
        texts.map((text) => ({ key, message: { envelope: bytes, body: new TextEncoder().encode(text) } })),
      )
    const take = async (visibilityMs: number, limit = 10) => {
      const taken = await store.queue.take('notes', { limit, visibilityMs })
      return taken.map((each) => new TextDecoder().decode(each.message.body))
    }
    const takeSome = (visibilityMs: number, limit = 10) =>
      eventually(async () => {
        const taken = await take(visibilityMs, limit)
        return taken.length === 0 ? undefined : taken
      }, 'others being taken')
    const evict = (row: string) => client.del(`justonce:{${tag}}:${row}`)
    const evictQueued = async (place: number) => {
      const [row] = await client.zRange(`justonce:{${tag}}:queue-all:notes`, place, place)
      expect(await evict(`queued:${row}`)).toBe(1)
    }
    return { store, send, take, takeSome, evict, evictQueued }
  }

  test('in a queue, before it is taken', async () => {
    const { store, send, take, evictQueued } = open()
    await send(['m1', 'm2', 'm3'])
    await evictQueued(0)
    expect(await take(60_000)).toEqual(['m2', 'm3'])
    expect(await store.queue.count('notes')).toMatchObject({ ready: 0, hidden: 2 })
  })

  test('in a queue, while it is hidden', async () => {
    const { store, send, take, takeSome, evictQueued } = open()
    await send(['m1', 'm2'])
    expect(await take(1)).toEqual(['m1', 'm2'])
    await evictQueued(0)
    expect(await takeSome(60_000)).toEqual(['m2'])
    expect(await store.queue.count('notes')).toMatchObject({ ready: 0, hidden: 1 })
  })

  test('in a queue, among others of its key', async () => {
    const { send, take, evictQueued } = open()
    await send(['m1', 'm2', 'm3', 'm4'], 'k')
    await evictQueued(1)
    expect(await take(60_000)).toEqual(['m1', 'm3', 'm4'])
  })

  test('in a queue, as the first of its key, ready or hidden', async () => {
    const { send, take, takeSome, evictQueued } = open()
    await send(['m1', 'm2', 'm3'], 'k')
    await evictQueued(0)
    expect(await take(50, 1)).toEqual(['m2'])
    await evictQueued(0)
    expect(await takeSome(60_000)).toEqual(['m3'])
  })

  test.for(['ready', 'later'])('in a queue, the list of those that are %s', async (list) => {
    const { send, takeSome, evict } = open()
    await send(['a1', 'a2'], 'a')
    await send(['b1'], 'b')
    await send(['m1'])
    if (list === 'later') expect(await takeSome(60_000)).toEqual(['a1', 'a2', 'b1', 'm1'])
    expect(await evict(`queue-${list}:notes`)).toBe(1)
    expect(await takeSome(60_000)).toEqual(['a1', 'a2', 'b1', 'm1'])
  })

  test('in a queue that has no others: it is empty', async () => {
    const { store, send, evictQueued } = open()
    await send(['m1'], 'k')
    await evictQueued(0)
    expect(await store.queue.count('notes')).toEqual({ ready: 0, hidden: 0, oldestMs: undefined })
    expect(await store.queue.queues()).toEqual([])
  })

  const row = (key: string) => ({
    ...{ handler: 'tag-note', key, messageId: key, type: 'note.created', source: '', message, step: 0 },
    ...({ state: 'waiting', attempts: 1, reason: 'ERROR', errors: '[]', shape: '', independent: true } as const),
    ...{ orderKey: undefined, delayMs: 0 },
  })

  test('among parked messages', async () => {
    const { store, evict } = open()
    await store.transaction((tx) => store.parking.park(tx, ['m1', 'm2', 'm3'].map(row)))
    await evict('parked:["tag-note","m1"]')
    const options = {
      limit: 1,
      forMs: 60_000,
      wanted: [{ handler: 'tag-note', type: undefined }],
      pastDead: [],
      maxBytes: 1_000,
    }
    const reserved = [await store.parking.reserve(options), await store.parking.reserve(options)]
    expect(reserved.flat().map(({ key }) => key)).toEqual(['m2', 'm3'])
    expect(await countParked(store)).toBe(2)
  })

  test('among dead letters, more of them than are read at once', async () => {
    const { store, evict } = open()
    const keys = Array.from({ length: 1_002 }, (_, index) => `m${index}`)
    await store.transaction((tx) =>
      store.parking.park(
        tx,
        keys.map((key) => ({ ...row(key), state: 'dead' })),
      ),
    )
    for (const key of keys.slice(0, 1_001)) await evict(`parked:["tag-note","${key}"]`)
    expect((await store.parking.list({ state: 'dead' })).map(({ key }) => key)).toEqual(['m1001'])
    expect(await store.parking.tally({ handler: 'tag-note' }, ['state'])).toMatchObject([{ count: 1 }])
  })

  describe('among those of an order key', () => {
    const scope = { handler: 'tag-note', orderKey: 'k', pastDead: false }
    const ordered = (key: string) => ({ ...row(key), orderKey: 'k' })
    const options = { limit: 9, forMs: 60_000, wanted: [{ handler: 'tag-note', type: undefined }], pastDead: [] }
    function openOrdered() {
      const opened = open()
      const { store } = opened
      return {
        ...opened,
        park: (...keys: readonly string[]) => store.transaction((tx) => store.parking.park(tx, keys.map(ordered))),
        isBlocked: async () => (await store.transaction((tx) => store.parking.blocked(tx, [scope])))[0],
        reserved: async () => (await store.parking.reserve({ ...options, maxBytes: 1_000 })).map(({ key }) => key),
      }
    }

    test('the only one: the key is free', async () => {
      const { park, evict, isBlocked } = openOrdered()
      await park('m1')
      expect(await isBlocked()).toBe(true)
      expect(await evict('parked:["tag-note","m1"]')).toBe(1)
      expect(await isBlocked()).toBe(false)
    })

    test('the first one: when the next message of the key comes, the second one is due', async () => {
      const { park, evict, isBlocked, reserved } = openOrdered()
      await park('m1', 'm2')
      expect(await evict('parked:["tag-note","m1"]')).toBe(1)
      expect(await isBlocked()).toBe(true)
      await park('m3')
      expect(await reserved()).toEqual(['m2'])
    })

    test.for(['due:tag-note', 'scope:["tag-note","k"]', 'scope-waiting:["tag-note","k"]'])(
      'the list %s: when the next message of the key comes, one of them is due',
      async (list) => {
        const { park, evict, reserved } = openOrdered()
        await park('m1', 'm2')
        expect(await evict(list)).toBe(1)
        await park('m3')
        expect(await reserved()).not.toEqual([])
      },
    )
  })

  test('the list of the handlers that a parked message waits for', async () => {
    const { store, evict } = open()
    const rows = ['m1', 'm2'].map((key) => ({ ...row(key), independent: false, orderKey: 'k' }))
    await store.transaction((tx) => store.parking.park(tx, rows))
    for (const key of ['m1', 'm2']) expect(await evict(`steps:["","note.created","${key}"]`)).toBe(1)
    const options = {
      limit: 1,
      forMs: 60_000,
      wanted: [{ handler: 'tag-note', type: undefined }],
      pastDead: [],
      maxBytes: 1_000,
    }
    const [head] = await store.parking.reserve(options)
    expect(head?.key).toBe('m1')
    expect(await store.parking.reserve({ ...options, behind: head!, pastDead: false })).toMatchObject([{ key: 'm2' }])
    await store.transaction((tx) => store.parking.change(tx, [{ handler: 'tag-note', key: 'm1', kind: 'done' }]))
    expect(await countParked(store)).toBe(1)
  })
})
