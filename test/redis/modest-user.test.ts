import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isJustonceError, type JustonceEvent, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { countParked, operations } from '../../src/operations/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import { aDayMs, connected, freshTag, type TestClient } from './open-redis.ts'

const binaries = await requireBinaries('redis')
// Each wait has its own bound.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

describe.skipIf(!binaries.available)('a user of Redis who may not do everything', () => {
  let server: RedisServer
  let admin: TestClient
  beforeAll(async () => {
    server = await startRedis()
    admin = await connected(server.url)
  })
  afterAll(async () => {
    admin?.destroy()
    await server?.stop()
  })

  async function open(...rights: string[]) {
    const tag = freshTag()
    const allow = (...more: string[]) => admin.sendCommand(['ACL', 'SETUSER', tag, ...more])
    await allow('on', '>secret', '~*', '&*', '+@all', ...rights)
    const url = new URL(server.url)
    Object.assign(url, { username: tag, password: 'secret' })
    const client = await connected(url.href)
    const store = redisStore({ client, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs, onWarning: () => {} })
    const transport = memoryTransport()
    const app = justonce({ store, transport, pollMs: 20 })
    const events: JustonceEvent[] = []
    app.events.listen((event) => events.push(event))
    const send = (...ids: string[]) => transport.send(ids.map((id) => ({ id, type: 'note.created', body: { id } })))
    const heard = (kind: JustonceEvent['kind'], times: number) =>
      expect
        .poll(() => events.filter((event) => event.kind === kind).length, { timeout: 30_000 })
        .toBeGreaterThan(times)
    const count = async (name: string) => Number((await admin.get(`${name}:{${tag}}`)) ?? 0)
    return { tag, allow, client, store, transport, app, events, send, heard, count }
  }

  test.for(['zadd', 'hset', 'time', 'eval', 'command'])('reports at the start that %s is missing', async (command) => {
    const { app, client } = await open(`-${command}`)
    app.on('note.created', 'tag-note', () => {})
    const error = await app.start().catch((reason: unknown) => reason)
    expect(String(error).toUpperCase()).toContain(command.toUpperCase())
    expect(isJustonceError(error, 'STORE_DENIED')).toBe(true)
    client.destroy()
  })

  // INFO is one of the commands that Redis calls dangerous, so many users may not call it.
  test('and who may not ask which server this is: nothing is remembered, because a failover would not be noticed', async () => {
    const { client, store } = await open('-info')
    const epoch = (key: string) =>
      store.transaction(async (tx) => {
        const request = { handler: 'h', key, fingerprint: undefined, born: undefined }
        return (await store.inbox.claim(tx, [request])).epoch
      })
    expect(await epoch('m1')).not.toBe(await epoch('m2'))
    // Operators see everything else.
    expect((await operations(store).overview({ minutes: 0 })).records).toMatchObject({
      bytes: undefined,
      of: 'database',
    })
    client.destroy()
  })

  test('and who loses a right of the store meanwhile: all is held, and takes effect once when it is back', async () => {
    const { tag, allow, app, client, store, transport, events, send, heard, count } = await open()
    app.on('note.created', 'tag-note', async (message, { tx, publish }) => {
      await tx.command('INCR', `${message.id}:{${tag}}`)
      await publish('note.tagged', {})
    })
    app.on('note.tagged', 'count', async (_, { tx }) => tx.command('INCR', `tagged:{${tag}}`))
    await app.start()
    await allow('-zadd')
    send('m1', 'm2', 'm3')
    await heard('stuck', 3)
    for (const id of ['m1', 'm2', 'm3']) expect(await count(id)).toBe(0)
    await allow('+zadd')
    await transport.idle()
    await expect.poll(() => count('tagged'), { timeout: 30_000 }).toBe(3)
    for (const id of ['m1', 'm2', 'm3']) expect(await count(id)).toBe(1)
    expect(events.filter(({ kind }) => kind === 'parked')).toEqual([])
    expect(await countParked(store)).toBe(0)
    await app.stop()
    client.destroy()
  })

  test('and a command of a handler that is refused: nothing of its message is applied, and it is tried again', async () => {
    const { tag, allow, app, client, transport, events, send, heard, count } = await open()
    await allow('resetkeys', '~justonce:*', '~m*')
    app.on(
      'note.created',
      { name: 'tag-note', retry: { attempts: 1_000, backoff: () => 20 } },
      async (message, { tx }) => {
        await tx.command('INCR', `${message.id}:{${tag}}`)
        if (message.id === 'm2') await tx.command('INCR', `elsewhere:{${tag}}`)
      },
    )
    await app.start()
    send('m1', 'm2', 'm3')
    await transport.idle()
    await heard('parked', 1)
    expect([await count('m1'), await count('m2'), await count('m3')]).toEqual([1, 0, 1])
    await allow('~elsewhere*')
    await expect.poll(() => count('m2'), { timeout: 30_000 }).toBe(1)
    expect(await count('elsewhere')).toBe(1)
    expect(events.some((event) => event.kind === 'parked' && event.reason === 'PARTLY_APPLIED')).toBe(false)
    await app.stop()
    client.destroy()
  })
})
