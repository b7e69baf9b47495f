import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leasesOf, suspectsOf } from '../../src/facts/index.ts'
import { isJustonceError, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import {
  type IsolatedRedisStore,
  type RedisArgument,
  type RedisClient,
  redisStore,
} from '../../src/stores/redis/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, connected, freshTag, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')
const request = (key: string) => ({ handler: 'tag-note', key, fingerprint: undefined })

/** A client of its own for each test, because its session is spoilt. */
const libraries = {
  async 'node-redis'() {
    const client = await connected(redis.url)
    return { client: client as RedisClient, end: () => client.destroy() }
  },
  async ioredis() {
    const client = new Redis(redis.url)
    return { client: client as RedisClient, end: () => client.disconnect() }
  },
}

describe.skipIf(!redis.available)('the session that a Redis store shares', () => {
  let outside: TestClient
  beforeAll(async () => {
    outside = await connected(redis.url)
  })
  afterAll(() => outside?.destroy())

  function openStore(client: RedisClient, tag: string, more: { database?: number } = {}): IsolatedRedisStore {
    return redisStore({ client, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, onWarning: () => {}, ...more })
  }
  const raw = (client: RedisClient, ...args: string[]): Promise<unknown> =>
    'call' in client
      ? client.call(args[0] as string, args.slice(1))
      : (client as TestClient).sendCommand(args as [string, ...string[]])

  describe.each(Object.keys(libraries) as (keyof typeof libraries)[])('%s', (library) => {
    async function open(run: (client: RedisClient) => Promise<void>): Promise<void> {
      const { client, end } = await libraries[library]()
      try {
        await run(client)
      } finally {
        end()
      }
    }

    test('a database that another user of the connection has selected changes nothing', () =>
      open(async (client) => {
        const tag = freshTag()
        const store = openStore(client, tag)
        await store.schema.install()
        const counter = `effects:{${tag}}`
        const claimAndCount = () =>
          store.transaction(async (tx) => {
            const { existing } = await store.inbox.claim(tx, [request('m1')])
            if (existing[0] === undefined) await tx.command('INCR', counter)
          })
        await claimAndCount()
        await raw(client, 'SELECT', '2')
        await claimAndCount()
        expect((await recordOf(store, request('m1')))?.state).toBe('processed')
        const lease = await leasesOf(store).acquire('tidying', 60_000)
        await raw(client, 'SELECT', '3')
        expect(await leasesOf(store).acquire('tidying', 60_000)).toBeUndefined()
        expect(await leasesOf(store).release('tidying', lease?.fence ?? 0)).toBe(true)
        expect(await suspectsOf(store).look(['m1'])).toEqual([0])
        await store.schema.check()
        expect(await outside.get(counter)).toBe('1')
        for (const other of ['2', '3']) {
          await raw(client, 'SELECT', other)
          expect(Number(await raw(client, 'DBSIZE'))).toBe(0)
        }
      }))

    test('a connection that is not in the database of its client is refused until the options name one', () =>
      open(async (client) => {
        const tag = freshTag()
        await raw(client, 'SELECT', '4')
        await expect(openStore(client, tag).schema.check()).rejects.toSatisfy(
          (error) => isJustonceError(error, 'OPTION_INVALID') && error.message.includes('database'),
        )
        const store = openStore(client, tag, { database: 4 })
        await store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
        await raw(client, 'SELECT', '0')
        expect((await recordOf(store, request('m1')))?.state).toBe('processed')
        await raw(client, 'SELECT', '4')
        await raw(client, 'FLUSHDB')
      }))

    test('a MULTI that another user has left open is never taken for an answer', () =>
      open(async (client) => {
        const tag = freshTag()
        const store = openStore(client, tag)
        await store.schema.install()
        await store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
        const work = store.transaction(async (tx) => {
          await store.inbox.claim(tx, [request('m2')])
          await tx.command('INCR', `effects:{${tag}}`)
          await raw(client, 'MULTI')
        })
        const error = await work.catch((reason: unknown) => reason)
        expect(error).toMatchObject({ code: 'COMMIT_UNKNOWN' })
        expect(store.classify(error)).toBe('unavailable')
        await raw(client, 'DISCARD')
        expect(await outside.get(`effects:{${tag}}`)).toBeNull()
        expect((await recordOf(store, request('m2')))?.state).not.toBe('processed')
      }))
  })

  test('a user that may not select a database is where it was put, and can work', async () => {
    const tag = freshTag()
    await outside.sendCommand(['ACL', 'SETUSER', tag, 'on', '>secret', '~*', '&*', '+@all', '-select'])
    const client = await connected(redis.url.replace('redis://', `redis://${tag}:secret@`))
    const store = openStore(client, tag)
    await store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
    expect((await recordOf(openStore(outside, tag), request('m1')))?.state).toBe('processed')
    await expect(recordOf(openStore(client, tag, { database: 2 }), request('m1'))).rejects.toThrow(/can't run/)
    client.destroy()
    await outside.sendCommand(['ACL', 'DELUSER', tag])
  })

  test.each([
    ['SELECT', '2'],
    ['select', '2'],
    ['AUTH', 'secret'],
    ['HELLO', '3'],
    ['CLIENT', 'REPLY', 'OFF'],
    ['RESET'],
    ['UNWATCH'],
  ])('tx.command(%j, …) is refused: it would change the session', async (...[name, ...args]) => {
    const tag = freshTag()
    const store = openStore(outside, tag)
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [request('m1')])
      await tx.command('INCR', `effects:{${tag}}`)
      await tx.command(name as string, ...(args as string[])).catch(() => {})
    })
    await expect(work).rejects.toSatisfy(
      (error) => isJustonceError(error, 'TX_CONTROL') && error.message.includes((name as string).toUpperCase()),
    )
    expect(await outside.get(`effects:{${tag}}`)).toBeNull()
  })

  test.each([
    ['FLUSHALL', []],
    ['FLUSHDB', ['ASYNC']],
    ['SWAPDB', ['0', '2']],
    ['READONLY', []],
    ['PING', []],
  ] as const)('tx.command(%j) is refused before anything is applied', async (name, args) => {
    const tag = freshTag()
    const store = openStore(outside, tag)
    const work = store.transaction(async (tx) => {
      await tx.command('INCR', `effects:{${tag}}`)
      await tx.command(name, ...args)
    })
    await expect(work).rejects.toSatisfy(
      (error) => isJustonceError(error, 'STORE_CANNOT') && error.message.includes(name),
    )
    expect(await outside.get(`effects:{${tag}}`)).toBeNull()
  })

  test('the keys of the store itself cannot be written by handlers', async () => {
    const tag = freshTag()
    const store = openStore(outside, tag)
    await store.transaction((tx) => store.inbox.claim(tx, [request('m1')]))
    const key = `justonce:{${tag}}:inbox:${JSON.stringify(['tag-note', 'm1'])}`
    const work = store.transaction((tx) => tx.command('DEL', key))
    await expect(work).rejects.toSatisfy((error) => isJustonceError(error, 'STORE_CANNOT'))
    expect((await recordOf(store, request('m1')))?.state).toBe('processed')
  })

  test('what only publishes is a write, too', async () => {
    const store = openStore(outside, freshTag())
    await store.transaction((tx) => tx.command('PUBLISH', 'news', 'x'))
  })

  const wrong: readonly (readonly [string, unknown])[] = [
    ['undefined', undefined],
    ['null', null],
    ['true', true],
    ['an array', ['a', 'b']],
    ['an object', { a: 1 }],
    ['a date', new Date(0)],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a number that is not exact', 2 ** 53],
    ['a symbol', Symbol('s')],
    ['a function', () => {}],
  ]

  test.each(wrong)('%s as an argument is refused at the call, which names it', async (_, value) => {
    const tag = freshTag()
    const store = openStore(outside, tag)
    const work = store.transaction(async (tx) => {
      await tx.command('SET', `effects:{${tag}}`, 'x')
      await tx.command('SET', `effects:{${tag}}`, value as RedisArgument)
    })
    const error = await work.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'ARGUMENT_INVALID', message: expect.stringMatching(/SET.*argument 2/) })
    expect(store.classify(error)).toBe('none')
    expect(await outside.get(`effects:{${tag}}`)).toBeNull()
  })

  test('texts, exact numbers, bigint and bytes arrive as they are', async () => {
    const tag = freshTag()
    const store = openStore(outside, tag)
    const key = `effects:{${tag}}`
    await store.transaction(async (tx) => {
      await tx.command('RPUSH', key, 'a', 1.5, -3, 9007199254740993n, Buffer.from('b'), new TextEncoder().encode('c'))
    })
    expect(await outside.lRange(key, 0, -1)).toEqual(['a', '1.5', '-3', '9007199254740993', 'b', 'c'])
  })

  test('a handler that gives wrong arguments fails by itself: its neighbours take effect', async () => {
    const tag = freshTag()
    const store = openStore(outside, tag)
    const transport = memoryTransport()
    const app = justonce({ store, transport, pollMs: 20 })
    const events: string[] = []
    app.events.listen((event) => void events.push(event.kind === 'rolled-back' ? event.reason : event.kind))
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async (message, { tx }) => {
      const { missing } = message.body as { missing?: string }
      await tx.command('SET', `effects:{${tag}}:${message.id}`, message.id === 'bad' ? (missing as string) : 'x')
    })
    transport.send(['m1', 'bad', 'm2'].map((id) => ({ id, type: 'note.created', body: {} })))
    await app.start()
    await transport.idle()
    await app.stop()
    expect(await Promise.all(['m1', 'm2'].map((id) => outside.get(`effects:{${tag}}:${id}`)))).toEqual(['x', 'x'])
    expect(await countParked(store, { state: 'dead' })).toBe(1)
    expect(events).not.toContain('commit-unknown')
    expect(events).not.toContain('store-down')
  })

  test('the fence does not begin anew when everything was flushed', async () => {
    const tag = freshTag()
    const store = openStore(outside, tag)
    const fences: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      const { fence } = (await leasesOf(store).acquire('tidying', 60_000)) ?? { fence: 0 }
      fences.push(fence)
      if (turn % 2 === 0) expect(await leasesOf(store).release('tidying', fence)).toBe(true)
      // As FLUSHALL does; other tests share the server.
      else
        for await (const keys of outside.scanIterator({ MATCH: `*{${tag}}*` }))
          if (keys.length > 0) await outside.del(keys)
    }
    expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b))
    expect(Number.isSafeInteger(fences.at(-1))).toBe(true)
  })
})
