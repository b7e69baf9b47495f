import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leasesOf, suspectsOf } from '../../src/facts/index.ts'
import { isJustonceError } from '../../src/index.ts'
import { type RedisTx, redisStore } from '../../src/stores/redis/index.ts'
import { parkedMessage, recordOf } from '../../src/testing/sample-records.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })
const recordKey = (tag: string, key: string): string => `justonce:{${tag}}:inbox:${JSON.stringify(['tag-note', key])}`

describe.skipIf(!redis.available)('claims in Redis', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  test('a claim that ran out and went to a rival cannot be committed, and nothing of it is applied', async () => {
    const tag = freshTag()
    const store = isolatedStore(client, tag)
    const rival = isolatedStore(client, tag)
    const counter = `effects:{${tag}}`
    const frozen = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1'), request('m2')])
      await tx.command('INCR', counter)
      // As when the lease runs out while the process is frozen.
      await client.del(recordKey(tag, 'm2'))
      await rival.transaction((other) => rival.inbox.claim(other, [request('m2')]))
    })
    const error = await frozen.catch((reason: unknown) => reason)
    expect(isJustonceError(error, 'CLAIM_LOST')).toBe(true)
    expect(store.classify(error)).toBe('conflict')
    expect(await client.get(counter)).toBeNull()
    expect(await recordOf(store, request('m1'))).toBeUndefined()
    expect((await recordOf(store, request('m2')))?.state).toBe('processed')
  })

  test('nor can what was done with a parked message, or under an order key, whose lock went to a rival', async () => {
    const tag = freshTag()
    const store = isolatedStore(client, tag)
    const rival = isolatedStore(client, tag)
    const counter = `effects:{${tag}}`
    const scope = { handler: 'tag-note', orderKey: 'a', pastDead: false }
    await store.transaction((tx) => store.parking.park(tx, [parkedMessage('m1')]))
    const rows = await store.parking.list()
    const row = `justonce:{${tag}}:lock:row:${JSON.stringify(['tag-note', 'm1'])}`
    const order = `justonce:{${tag}}:lock:scope:${JSON.stringify(['tag-note', 'a'])}`
    for (const lock of [row, order]) {
      const frozen = store.transaction(async (tx) => {
        expect(await store.parking.take(tx, rows)).toEqual([true])
        expect(await store.parking.blocked(tx, [scope])).toEqual([false])
        await tx.command('INCR', counter)
        await client.del(lock)
        await rival.transaction(async (other) => {
          if (lock === row) expect(await rival.parking.take(other, rows)).toEqual([true])
          else expect(await rival.parking.blocked(other, [scope])).toEqual([false])
        })
      })
      await expect(frozen).rejects.toSatisfy((error) => isJustonceError(error, 'CLAIM_LOST'))
      expect(await client.get(counter)).toBeNull()
    }
  })

  test('a claim of a process that died runs out, and not before', async () => {
    const tag = freshTag()
    const dying = redisStore({ client, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, leaseMs: 60_000 })
    const claimed = Promise.withResolvers<void>()
    void dying.transaction(async (tx) => {
      await dying.inbox.claim(tx, [request('m1')])
      claimed.resolve()
      await new Promise(() => {})
    })
    await claimed.promise
    const ttl = await client.pTTL(recordKey(tag, 'm1'))
    expect(ttl).toBeGreaterThan(50_000)
    expect(ttl).toBeLessThanOrEqual(60_000)
    const store = isolatedStore(client, tag)
    const early = store.transaction((tx) => store.inbox.claim(tx, [request('m1')]), { lockTimeoutMs: 50 })
    expect(store.classify(await early.catch((error: unknown) => error))).toBe('conflict')
    await client.pExpire(recordKey(tag, 'm1'), 1)
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
    expect(existing).toEqual([undefined])
  })

  test('what a process held when it died outlives it by its lease, also if the clock of the server was ahead', async () => {
    const tag = freshTag()
    const dying = redisStore({ client, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, leaseMs: 60_000 })
    const rival = redisStore({ client, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, leaseMs: 500 })
    await rival.transaction((tx) => rival.parking.park(tx, [parkedMessage('m1')]))
    const rows = await rival.parking.list()
    const scope = { handler: 'tag-note', orderKey: 'a', pastDead: false }
    const locks = ['row:["tag-note","m1"]', 'scope:["tag-note","a"]'].map((name) => `justonce:{${tag}}:lock:${name}`)
    const ways: readonly ((store: typeof dying, tx: RedisTx) => Promise<unknown>)[] = [
      (store, tx) => store.inbox.claim(tx, [request('m2')]),
      (store, tx) => store.parking.take(tx, rows),
      (store, tx) => store.parking.blocked(tx, [scope]),
    ]
    for (const [place, key] of [recordKey(tag, 'm2'), ...locks].entries()) {
      const take = ways[place] as (typeof ways)[number]
      const taken = Promise.withResolvers<void>()
      void dying.transaction(async (tx) => {
        await take(dying, tx)
        taken.resolve()
        await new Promise(() => {})
      })
      await taken.promise
      await client.pExpire(key, 40 * aDayMs)
      await rival.transaction((tx) => take(rival, tx), { lockTimeoutMs: 1 }).catch(() => {})
      const left = await client.pTTL(key)
      expect(left).toBeGreaterThan(50_000)
      expect(left).toBeLessThanOrEqual(60_000)
    }
  })

  test('a claim is renewed for as long as its transaction is open', async () => {
    const tag = freshTag()
    const store = redisStore({ client, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, leaseMs: 5_000 })
    const key = recordKey(tag, 'm1')
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1')])
      // It lasts longer than it did a moment ago, which only a renewal can bring about, and twice.
      for (let renewals = 0; renewals < 2; ) {
        const before = await client.pTTL(key)
        await new Promise((resolve) => setTimeout(resolve, 20))
        const after = await client.pTTL(key)
        expect(after).toBeGreaterThan(0)
        if (after > before) renewals++
      }
    })
    expect((await recordOf(store, request('m1')))?.state).toBe('processed')
  })

  test('records live as long as was said, parked ones until they are done', async () => {
    const tag = freshTag()
    const store = isolatedStore(client, tag)
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1'), request('m2')])
      await store.inbox.update(tx, [{ ...request('m2'), state: 'parked' }])
    })
    expect(await client.pTTL(recordKey(tag, 'm1'))).toBeGreaterThan(aDayMs - 60_000)
    expect(await client.pTTL(recordKey(tag, 'm2'))).toBe(-1)
    await store.transaction((tx) => store.inbox.update(tx, [{ ...request('m2'), state: 'processed' }]))
    expect(await client.pTTL(recordKey(tag, 'm2'))).toBeGreaterThan(aDayMs - 60_000)
  })

  /** Sends every script twice, as a client does that has lost the connection before the first answer came. */
  function doubling(tag: string) {
    const answers: unknown[] = []
    const twice = {
      async sendCommand(args: string[]): Promise<unknown> {
        const answer = await client.sendCommand(args)
        if (!args[0]?.startsWith('EVAL')) return answer
        answers.push(answer)
        return await client.sendCommand(args)
      },
    }
    const store = redisStore({ client: twice, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs })
    return { store, answers }
  }

  test('a commit that a client sends twice, as one does after a lost connection, is applied once', async () => {
    const tag = freshTag()
    const counter = `effects:{${tag}}`
    const { store, answers } = doubling(tag)
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1')])
      await tx.command('INCR', counter)
    })
    await store.transaction((tx) => tx.command('INCR', counter))
    expect(await client.get(counter)).toBe('2')
    expect(answers).toHaveLength(3)
  })

  test('an attempt that a client tells twice is counted once, and taken back once', async () => {
    const { store, answers } = doubling(freshTag())
    await suspectsOf(store).begin(['s1', 's2'])
    expect(await suspectsOf(store).look(['s1', 's2'])).toEqual([1, 1])
    await suspectsOf(store).begin(['s1'])
    expect(await suspectsOf(store).look(['s1'])).toEqual([2])
    await suspectsOf(store).forgive(['s1'])
    expect(await suspectsOf(store).look(['s1'])).toEqual([1])
    expect(answers.length).toBeGreaterThan(3)
  })

  test('a handler may queue any number of commands, also all at once', async () => {
    const tag = freshTag()
    const asked: string[] = []
    const counting = {
      sendCommand(args: string[]): Promise<unknown> {
        asked.push(String(args[0]))
        return client.sendCommand(args)
      },
    }
    const options = { mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, commandTimeoutMs: 60_000 } as const
    const store = redisStore({ client: counting, ...options })
    const fields = Array.from({ length: 30_000 }, (_, index) => `f${index}`)
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1')])
      await Promise.all(fields.map((field) => tx.command('HSET', `effects:{${tag}}`, field, '1')))
    })
    expect(await client.hLen(`effects:{${tag}}`)).toBe(fields.length)
    expect((await recordOf(store, request('m1')))?.state).toBe('processed')
    expect(asked.filter((name) => name === 'COMMAND')).toHaveLength(1)
  })

  test('scripts that the server has forgotten are sent again', async () => {
    const tag = freshTag()
    const store = isolatedStore(client, tag)
    const claim = (key: string) => store.transaction((tx) => store.inbox.claim(tx, [request(key)]))
    await claim('m1')
    await client.scriptFlush()
    expect((await claim('m1')).existing[0]?.state).toBe('processed')
    expect((await claim('m2')).existing).toEqual([undefined])
  })

  test('ioredis does as well, side by side with node-redis; bytes are bytes', async () => {
    const tag = freshTag()
    const other = new Redis(redis.url)
    try {
      const store = redisStore({ client: other, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs })
      const rival = isolatedStore(client, tag)
      const key = `effects:{${tag}}:bytes`
      await store.schema.install()
      await store.transaction(async (tx) => {
        await store.inbox.claim(tx, [request('m1')])
        await tx.command('SETRANGE', key, 1, Uint8Array.of(255, 0, 128))
      })
      const { existing } = await rival.transaction((tx) => rival.inbox.claim(tx, [request('m1'), request('m2')]))
      expect(existing.map((record) => record?.state)).toEqual(['processed', undefined])
      expect([...((await other.getBuffer(key)) ?? [])]).toEqual([0, 255, 0, 128])
      await expect(store.transaction((tx) => tx.command('NOSUCH'))).rejects.toThrow('NOSUCH')
    } finally {
      other.disconnect()
    }
  })

  test('leases of one name go to one at a time, with a fence that only grows', async () => {
    const tag = freshTag()
    const [one, other] = [leasesOf(isolatedStore(client, tag)), leasesOf(isolatedStore(client, tag))]
    const first = await one.acquire('maintainer', 60_000)
    expect(await other.acquire('maintainer', 60_000)).toBeUndefined()
    expect(await other.release('maintainer', (first?.fence ?? 0) + 1)).toBe(false)
    expect(await one.renew('maintainer', first?.fence ?? 0, 60_000)).toBe(true)
    expect(await one.release('maintainer', first?.fence ?? 0)).toBe(true)
    const second = await other.acquire('maintainer', 60_000)
    expect(second?.fence).toBeGreaterThan(first?.fence ?? 0)
    expect(await one.renew('maintainer', first?.fence ?? 0, 60_000)).toBe(false)
  })
})
