import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store, StoreWarning } from '../../src/contracts/index.ts'
import { isJustonceError, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { type RedisWarning, redisStore } from '../../src/stores/redis/index.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import { aDayMs, connected, freshTag, type TestClient } from './open-redis.ts'

const binaries = await requireBinaries('redis')
const toText = ({ code, message }: StoreWarning): string => `${code} ${message}`

describe.skipIf(!binaries.available)('how the server is set up', () => {
  let server: RedisServer
  let client: TestClient
  beforeAll(async () => {
    server = await startRedis()
    client = await connected(server.url)
  })
  afterAll(async () => {
    client?.destroy()
    await server?.stop()
  })

  async function warnings(): Promise<string[]> {
    const heard: RedisWarning[] = []
    const onWarning = (warning: RedisWarning): void => void heard.push(warning)
    const store = redisStore({ client, mode: 'isolated', recordTtlMs: aDayMs, hashTag: freshTag(), onWarning })
    await store.schema.install()
    await store.schema.check()
    return [...new Set(heard.map(toText))]
  }

  /** Of an app on a store without an `onWarning`; the warnings of the process itself are the second. */
  async function warningsOfApp(mode: 'isolated' | 'lease'): Promise<[events: string[], process: string[]]> {
    const common = { client, hashTag: freshTag() }
    const store: Store =
      mode === 'lease' ? redisStore({ ...common, mode }) : redisStore({ ...common, mode, recordTtlMs: aDayMs })
    const app = justonce({ store, transport: memoryTransport() })
    app.on('note.created', { name: 'tag-note', delivery: 'at-least-once' }, () => {})
    const [events, told]: [string[], string[]] = [[], []]
    app.events.listen((event) => {
      if (event.kind === 'warning') events.push(toText(event))
    })
    const hear = ({ name, message }: Error): void => void (name === 'justonce' && told.push(message))
    process.on('warning', hear)
    try {
      await app.start()
      await app.stop()
    } finally {
      process.off('warning', hear)
    }
    return [events, told]
  }

  test('is no reason to warn when records are safe', async () => {
    expect(await warnings()).toEqual([])
  })

  test('is warned about when records may be evicted, or are gone after a restart', async () => {
    await client.configSet('maxmemory-policy', 'allkeys-lru')
    expect(await warnings()).toEqual([
      'RECORDS_MAY_BE_EVICTED maxmemory-policy is allkeys-lru. Set maxmemory-policy noeviction on the Redis that keeps records.',
    ])
    await client.configSet('maxmemory-policy', 'volatile-ttl')
    await client.configSet('appendonly', 'no')
    expect(await warnings()).toEqual([
      expect.stringMatching(/^RECORDS_MAY_BE_EVICTED maxmemory-policy is volatile-ttl\. Set /),
      expect.stringMatching(/^RECORDS_NOT_DURABLE appendonly is no\. Set /),
    ])
    await client.configSet({ 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'no' })
    expect(await warnings()).toEqual([expect.stringMatching(/^COMMITS_NOT_DURABLE appendfsync is no\. Set /)])
    await client.configSet('appendfsync', 'everysec')
  })

  test.for(['isolated', 'lease'] as const)(
    'is reported to the listeners of an app on a store that is %s',
    async (mode) => {
      expect(await warningsOfApp(mode)).toEqual([[], []])
      await client.configSet('maxmemory-policy', 'allkeys-lru')
      try {
        const warning =
          'maxmemory-policy is allkeys-lru. Set maxmemory-policy noeviction on the Redis that keeps records.'
        expect(await warningsOfApp(mode)).toEqual([[`RECORDS_MAY_BE_EVICTED ${warning}`], [warning]])
      } finally {
        await client.configSet('maxmemory-policy', 'noeviction')
      }
    },
  )

  test('is said to be unknown where the server does not tell', async () => {
    await client.sendCommand(['ACL', 'SETUSER', 'default', '-config'])
    try {
      expect(await warnings()).toEqual([expect.stringMatching(/^SERVER_NOT_CHECKED CONFIG GET was refused: NOPERM/)])
    } finally {
      await client.sendCommand(['ACL', 'SETUSER', 'default', '+config'])
    }
  })

  test('keys of a newer format are refused', async () => {
    const hashTag = freshTag()
    const store = redisStore({ client, mode: 'lease', hashTag })
    await client.set(`justonce:{${hashTag}}:format`, '2')
    await expect(store.schema.check()).rejects.toSatisfy((error) => isJustonceError(error, 'SCHEMA_NEW'))
  })

  test('memory that is full means: hold everything, and nothing is half done', async () => {
    const hashTag = freshTag()
    const store = redisStore({ client, mode: 'isolated', recordTtlMs: aDayMs, hashTag, onWarning: () => {} })
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }])
      await tx.command('INCR', `effects:{${hashTag}}`)
      await client.configSet('maxmemory', '1')
    })
    const error = await work.catch((reason: unknown) => reason)
    await client.configSet('maxmemory', '0')
    expect(isJustonceError(error, 'STORE_FULL')).toBe(true)
    expect(store.classify(error)).toBe('unavailable')
    expect(await client.get(`effects:{${hashTag}}`)).toBeNull()
    const { existing } = await store.transaction((tx) =>
      store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }]),
    )
    expect(existing).toEqual([undefined])
  })

  test.for([
    [{ mode: 'isolated', client: {} }, 'client is no client'],
    [{ mode: 'isolated' }, 'recordTtlMs'],
    [{ mode: 'atomic', recordTtlMs: 1 }, 'mode'],
    [{ mode: 'lease', recordTtlMs: 1 }, 'recordTtlMs'],
    [{ mode: 'lease', hashTag: 'a{b}' }, 'hashTag'],
    [{ mode: 'lease', leaseMs: 0 }, 'leaseMs'],
  ] as const)('options that make no sense are refused: %o', ([options, message]) => {
    const given = {
      client,
      ...(options.mode === 'isolated' && 'client' in options ? { recordTtlMs: 1 } : {}),
      ...options,
    }
    expect(() => redisStore(given as never)).toThrow(message)
  })
})
