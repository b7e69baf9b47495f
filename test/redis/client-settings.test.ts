import { Redis, type RedisOptions } from 'ioredis'
import { afterEach, describe, expect, test } from 'vitest'
import { hotSide } from '../../src/hints/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, freshTag } from './open-redis.ts'

const redis = await requireServer('redis')
const request = { handler: 'tag-note', key: 'm1', fingerprint: undefined }

describe.skipIf(!redis.available)('settings of ioredis', () => {
  const clients: Redis[] = []
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect()
  })

  function connect(options: RedisOptions): Redis {
    const client = new Redis(redis.url, options)
    client.on('error', () => {})
    clients.push(client)
    return client
  }

  function open(options: RedisOptions, tag = freshTag()) {
    return redisStore({ client: connect(options), mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs })
  }

  test('a keyPrefix is refused', () => {
    expect(() => open({ keyPrefix: 'shop:' })).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
  })

  test('records that are kept for longer than Redis can count are refused, because it would do so in the middle of a commit', async () => {
    const client = connect({})
    const keeping = (recordTtlMs: number) =>
      redisStore({ client, mode: 'isolated', hashTag: freshTag(), recordTtlMs, onWarning: () => {} })
    expect(() => keeping(Number.MAX_VALUE)).toThrow(expect.objectContaining({ code: 'OPTION_INVALID' }))
    const store = keeping(Number.MAX_SAFE_INTEGER)
    await store.transaction((tx) => store.inbox.claim(tx, [request]))
    expect(await store.inbox.find([request])).toMatchObject([{ state: 'processed' }])
  })

  test('a reconnectOnError that repeats every command is refused, because an unknown script would be sent for ever', () => {
    const refused = expect.objectContaining({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('reconnectOnError'),
    })
    expect(() => open({ reconnectOnError: () => 2 })).toThrow(refused)
  })

  test.each([
    ['repeats for READONLY', (error: Error) => (error.message.startsWith('READONLY') ? 2 : false)],
    ['reconnects for everything', (): 1 => 1],
    ['reconnects for everything, in other words', () => true],
  ] as const)('a reconnectOnError that %s: a script that the server has forgotten is sent again', async (_, decide) => {
    const store = open({ reconnectOnError: decide })
    const claims = () => store.transaction((tx) => store.inbox.claim(tx, [request]))
    await connect({}).script('FLUSH')
    expect(await claims()).toMatchObject({ existing: [undefined] })
    await connect({}).script('FLUSH')
    expect(await claims()).toMatchObject({ existing: [{ state: 'processed' }] })
  })

  test('two apps share a hot side under two keyPrefixes, and neither finds what is of the other', async () => {
    const [one, two] = ['one:', 'two:'].map((prefix) =>
      hotSide({ client: connect({ keyPrefix: prefix + freshTag() }), timeoutMs: 5_000 }),
    )
    one?.committed([request], 'e1')
    await expect.poll(() => one?.known([request], 'e1')).toEqual([true])
    expect(await two?.known([request], 'e1')).toEqual([false])
    expect(await one?.known([request], 'e2')).toEqual([false])
  })
})
