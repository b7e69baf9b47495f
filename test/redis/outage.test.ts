import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isJustonceError, type JustonceEvent, justonce, once } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import { aDayMs, connected, freshTag, type TestClient } from './open-redis.ts'

const binaries = await requireBinaries('redis')

const usualLimits = { 'proto-max-bulk-len': '4mb', 'client-query-buffer-limit': '1gb' }

/** Asks until there is a connection. */
async function idOf(its: TestClient): Promise<number> {
  return await vi.waitFor(() => its.clientId(), { timeout: 10_000 })
}

describe.skipIf(!binaries.available)('Redis goes away', () => {
  let server: RedisServer
  let client: TestClient
  beforeAll(async () => {
    server = await startRedis({ settings: { appendfsync: 'always' } })
    client = await connected(server.url)
  })
  afterAll(async () => {
    client?.destroy()
    await server?.stop()
  })

  function open({ leaseMs = 1_000, commandTimeoutMs = 500, its = client } = {}) {
    const hashTag = freshTag()
    const onWarning = (): void => {}
    const store = redisStore({
      client: its,
      mode: 'isolated',
      hashTag,
      recordTtlMs: aDayMs,
      leaseMs,
      commandTimeoutMs,
      onWarning,
    })
    const transport = memoryTransport()
    const app = justonce({ store, transport, pollMs: 20, batch: { max: 5 } })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event))
    const heard = (kind: JustonceEvent['kind']) =>
      expect.poll(() => events.some((event) => event.kind === kind), { timeout: 15_000 }).toBe(true)
    const count = async (id: string): Promise<number> => Number((await client.get(`effects:{${hashTag}}:${id}`)) ?? 0)
    return { hashTag, store, transport, app, events, heard, count }
  }

  test.for(['kill -9', 'freeze'])('by %s, in the middle of the work: every message takes effect once', async (how) => {
    const { hashTag, transport, app, heard, count } = open()
    let handled = 0
    app.on('note.created', 'tag-note', async (message, { tx }) => {
      await tx.command('INCR', `effects:{${hashTag}}:${message.id}`)
      if (++handled !== 12) return
      if (how === 'freeze') server.freeze()
      else await server.kill9()
    })
    const ids = Array.from({ length: 30 }, (_, index) => `m${index}`)
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: { id } })))
    await app.start()
    await heard('store-down')
    if (how === 'freeze') server.thaw()
    else await server.restart()
    await heard('store-up')
    await transport.idle()
    transport.send(ids.map((id) => ({ id, type: 'note.created', body: { id } })))
    await transport.idle()
    await app.stop()
    expect(await Promise.all(ids.map(count))).toEqual(ids.map(() => 1))
  })

  test.for([
    ['keeps commands for later', false],
    ['does not', true],
  ] as const)(
    'for one connection only, of a client that %s: the store is not reported as down',
    async ([_, disableOfflineQueue]) => {
      const its = await connected(server.url, { disableOfflineQueue })
      const { hashTag, transport, app, events, count } = open({ its })
      app.on('note.created', 'tag-note', (message, { tx }) => tx.command('INCR', `effects:{${hashTag}}:${message.id}`))
      await app.start()
      const ids: string[] = []
      try {
        for (let cut = 0; cut < 20; cut++) {
          // Relay, retries and redrives ask every 20 ms, so some command is on its way.
          await client.sendCommand(['CLIENT', 'KILL', 'ID', String(await idOf(its))])
          ids.push(`m${cut}`)
          transport.send([{ id: `m${cut}`, type: 'note.created', body: {} }])
          await transport.idle()
        }
      } finally {
        await app.stop()
        its.destroy()
      }
      expect(await Promise.all(ids.map(count))).toEqual(ids.map(() => 1))
      expect(events.filter(({ kind }) => kind === 'store-down')).toEqual([])
    },
  )

  test.for([
    {
      which: 'that keeps commands for later',
      limit: 'proto-max-bulk-len',
      disableOfflineQueue: false,
      leaseMs: 3_600_000,
    },
    { which: 'that does not', limit: 'proto-max-bulk-len', disableOfflineQueue: true, leaseMs: 5_000 },
    {
      which: 'that keeps commands for later',
      limit: 'client-query-buffer-limit',
      disableOfflineQueue: false,
      leaseMs: 3_600_000,
    },
    { which: 'that does not', limit: 'client-query-buffer-limit', disableOfflineQueue: true, leaseMs: 5_000 },
  ] as const)(
    'because a command was too large for $limit, of a client $which: its attempts come to an end, and others go on',
    { timeout: 90_000 },
    async ({ limit, disableOfflineQueue, leaseMs }) => {
      const its = await connected(server.url, { disableOfflineQueue })
      const { hashTag, store, transport, app, count } = open({ leaseMs, commandTimeoutMs: 10_000, its })
      app.on(
        'note.created',
        { name: 'tag-note', retry: { attempts: 2, backoff: () => 0 } },
        async (message, { tx }) => {
          await tx.command('INCR', `effects:{${hashTag}}:${message.id}`)
          if (message.id === 'm2') await tx.command('SET', `large:{${hashTag}}`, Buffer.alloc(2_000_000))
        },
      )
      await client.configSet(limit, '1mb')
      try {
        await app.start()
        transport.send(['m1', 'm2', 'm3'].map((id) => ({ id, type: 'note.created', body: { id } })))
        await expect.poll(() => countParked(store, { state: 'dead' }), { timeout: 60_000 }).toBe(1)
        await transport.idle()
        expect(await Promise.all(['m1', 'm2', 'm3'].map(count))).toEqual([1, 0, 1])
        expect(await store.parking.list()).toMatchObject([{ key: 'm2', state: 'dead', attempts: 2 }])
      } finally {
        await client.configSet(limit, usualLimits[limit])
        await app.stop()
        its.destroy()
      }
    },
  )

  test.for(['proto-max-bulk-len', 'client-query-buffer-limit'] as const)(
    'a body that is too large for %s becomes a dead letter that fits, and others go on',
    async (limit) => {
      const its = await connected(server.url)
      const { hashTag, store, transport, app, events, count } = open({ commandTimeoutMs: 10_000, its })
      app.on(
        'note.created',
        { name: 'tag-note', retry: { attempts: 2, backoff: () => 0 } },
        async (message, { tx }) => {
          await tx.command('INCR', `effects:{${hashTag}}:${message.id}`)
          if (message.id === 'm2') throw new Error('not this one')
        },
      )
      await client.configSet(limit, '1mb')
      try {
        await app.start()
        const body = { text: 'x'.repeat(900_000) }
        transport.send(['m1', 'm2', 'm3'].map((id) => ({ id, type: 'note.created', body })))
        await transport.idle()
        const kept = await store.parking.list()
        expect(kept).toMatchObject([{ messageId: 'm2', state: 'dead', reason: 'MESSAGE_NOT_KEPT' }])
      } finally {
        await client.configSet(limit, usualLimits[limit])
        await app.stop()
        its.destroy()
      }
      expect(await Promise.all(['m1', 'm2', 'm3'].map(count))).toEqual([1, 0, 1])
      expect(events.filter(({ kind }) => kind === 'stuck' || kind === 'store-down')).toEqual([])
    },
  )

  test('a ping says when the memory is full or the server has become a replica', async () => {
    const { store } = open({ commandTimeoutMs: 10_000 })
    await client.configSet('maxmemory', '1')
    const full = await store.ping().catch((reason: unknown) => reason)
    await client.configSet('maxmemory', '0')
    expect(full).toMatchObject({ code: 'STORE_FULL' })
    await client.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const replica = await store.ping().catch((reason: unknown) => reason)
    await client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    expect(replica).toMatchObject({ code: 'STORE_UNREACHABLE' })
    expect([full, replica].map((error) => store.classify(error))).toEqual(['unavailable', 'unavailable'])
    await store.ping()
  })

  test.for([
    ['before', 0],
    ['after-forward', 1],
  ] as const)(
    'a connection that is cut at the commit, %s, is reported as unknown, and once() resolves it',
    async ([when, expected]) => {
      const hashTag = freshTag()
      const key = `effects:{${hashTag}}:m1`
      const proxy = await startProxy('127.0.0.1', server.port)
      const cut = await connected(proxy.url(server.url))
      try {
        const store = redisStore({ client: cut, mode: 'isolated', hashTag, recordTtlMs: aDayMs, onWarning: () => {} })
        // The key is sent with the commit and not before.
        const happened = proxy.cutWhenClientSends(key, when)
        const work = store.transaction(async (tx) => {
          await store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }])
          await tx.command('INCR', key)
        })
        const error = await work.catch((reason: unknown) => reason)
        await happened
        expect(isJustonceError(error, 'COMMIT_UNKNOWN')).toBe(true)
        expect(Number((await client.get(key)) ?? 0)).toBe(expected)
        const outcome = await once(store, { handler: 'tag-note', key: 'm1' }, (tx) => tx.command('INCR', key))
        expect(outcome.status).toBe(expected === 1 ? 'duplicate' : 'processed')
        expect(await client.get(key)).toBe('1')
      } finally {
        cut.destroy()
        await proxy.stop()
      }
    },
  )

  test('a commit without an answer is reported as unknown, and the next claim resolves it', async () => {
    const { hashTag, store, count } = open({ commandTimeoutMs: 3_000 })
    const claim = { handler: 'tag-note', key: 'm1', fingerprint: undefined }
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [claim])
      await tx.command('INCR', `effects:{${hashTag}}:m1`)
      server.freeze()
    })
    const error = await work.catch((reason: unknown) => reason)
    expect(isJustonceError(error, 'COMMIT_UNKNOWN')).toBe(true)
    await expect(store.ping()).rejects.toSatisfy((reason) => store.classify(reason) === 'unavailable')
    server.thaw()
    const { existing } = await store.transaction((tx) => store.inbox.claim(tx, [claim]))
    expect(await count('m1')).toBe(existing[0] === undefined ? 0 : 1)
  })
})
