import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hotSide } from '../../src/hints/index.ts'
import type { JustonceEvent } from '../../src/index.ts'
import { justonce } from '../../src/index.ts'
import { MemoryDatabase, memoryStore, memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { requireBinaries } from '../servers/require.ts'
import { connected, freshTag, type TestClient } from './open-redis.ts'

const binaries = await requireBinaries('redis')
const notes = (...ids: string[]) => ids.map((id) => ({ id, type: 'note.created', body: { id } }))

describe.skipIf(!binaries.available)('a hot Redis beside a store that keeps the promise', () => {
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

  /** Apps on the same database and hot side, as processes would be. */
  function world() {
    const database = new MemoryDatabase()
    const prefix = `${freshTag()}:`
    const ran: string[] = []
    // While a call hangs, nothing more is sent: on a busy machine that must not happen by itself.
    const open = (hot = client, timeoutMs = 20_000) => {
      const store = memoryStore({ database })
      const hints = hotSide({ client: hot, prefix, timeoutMs, restMs: 0 })
      const transport = memoryTransport()
      const app = justonce({ store, hints, transport, concurrency: 1 })
      const events: JustonceEvent[] = []
      app.events.listen((event) => events.push(event))
      app.on('note.created', 'tag-note', (message, { tx }) => {
        ran.push(message.id)
        tx.set(message.id, (tx.get<number>(message.id) ?? 0) + 1)
      })
      const handle = async (...ids: string[]): Promise<void> => {
        transport.send(notes(...ids))
        await transport.idle()
      }
      const duplicates = () =>
        events.flatMap((event) => (event.kind === 'duplicate' ? `${event.key} ${event.from}` : []))
      return { store, hints, app, transport, handle, duplicates }
    }
    const filled = (size: number) => expect.poll(async () => (await client.keys(`${prefix}*`)).length).toBe(size)
    return { database, open, ran, filled }
  }

  test('recognises duplicates that another process has handled, without a claim', async () => {
    const { open, ran, filled } = world()
    const [one, other] = [open(), open()]
    await one.app.start()
    await one.handle('m1', 'm2', 'm3')
    await filled(3)
    await other.app.start()
    const isCached = (): boolean => ['m1', 'm2', 'm3'].every((id) => other.duplicates().includes(`${id} cache`))
    const fresh: string[] = []
    while (fresh.length < 20 && !isCached()) {
      // A claim tells it the epoch. Where this machine takes more than a second from there, it asks nobody.
      fresh.push(`fresh ${fresh.length}`)
      await other.handle(fresh.at(-1) ?? '')
      await other.handle('m1', 'm2', 'm3')
    }
    await Promise.all([one.app.stop(), other.app.stop()])
    expect(isCached()).toBe(true)
    expect(ran).toEqual(['m1', 'm2', 'm3', ...fresh])
  })

  test('gets nothing that was not committed', async () => {
    const { open, filled } = world()
    const { app, handle, store, hints } = open()
    const options = { name: 'fails', independent: true, retry: { attempts: 1 } }
    app.on('note.created', options, ({ id }) => {
      if (id === 'm2') throw new Error('no')
    })
    await app.start()
    await handle('m1', 'm2')
    await filled(3)
    await app.stop()
    expect(await hints.known([{ handler: 'fails', key: 'm2', fingerprint: undefined }], '0')).toEqual([false])
    expect(await countParked(store, { state: 'dead', handler: 'fails' })).toBe(1)
  })

  test('leaves it to the store that a key was used for something else', async () => {
    const { open, ran, filled } = world()
    const [one, other] = [open(), open()]
    await one.app.start()
    await one.handle('m1')
    await filled(1)
    await other.app.start()
    await other.handle('m2')
    other.transport.send([{ id: 'm1', type: 'note.created', body: { id: 'm1', more: true } }])
    await other.transport.idle()
    await Promise.all([one.app.stop(), other.app.stop()])
    expect(ran).toEqual(['m1', 'm2'])
    expect(await countParked(one.store, { reason: 'KEY_REUSED' })).toBe(1)
  })

  test('forgets with the store: entries of another epoch are worthless', async () => {
    const { open, ran, filled } = world()
    const [one, other] = [open(), open()]
    await one.app.start()
    await one.handle('m1')
    await filled(1)
    const key = { handler: 'tag-note', key: 'm1' }
    expect(await one.store.transaction((tx) => one.store.inbox.forget(tx, [key]))).toBe(1)
    await other.app.start()
    await other.handle('m2')
    await other.handle('m1')
    await Promise.all([one.app.stop(), other.app.stop()])
    expect(ran).toEqual(['m1', 'm2', 'm1'])
  })

  test.for(['kill -9', 'freeze'])('goes on when the hot side goes away by %s', async (how) => {
    const { open, ran, database } = world()
    const own = await startRedis()
    const hot = await connected(own.url)
    try {
      const { app, handle, duplicates } = open(hot, 50)
      await app.start()
      const ids = Array.from({ length: 40 }, (_, index) => `m${index}`)
      await handle(...ids.slice(0, 20))
      if (how === 'freeze') own.freeze()
      else await own.kill9()
      await handle(...ids)
      await handle(...ids)
      await app.stop()
      expect(ran).toEqual(ids)
      expect(ids.map((id) => database.committedValue(id))).toEqual(ids.map(() => 1))
      expect(duplicates()).toHaveLength(60)
    } finally {
      hot.destroy()
      if (how === 'freeze') own.thaw()
      await own.stop()
    }
  })

  test('refuses what is no client, and hints that are none', () => {
    expect(() => hotSide({ client: {} as never })).toThrow('client is neither')
    expect(() => hotSide({ client, liveMs: 5 } as never)).toThrow('lifeMs')
    expect(() => justonce({ store: memoryStore(), hints: client as never })).toThrow('hints.known')
  })
})
