import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, connected, freshTag, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')

/** Node-redis with RESP 2 does so after somebody has subscribed on the client that the store shares, and for good. */
describe.skipIf(!redis.available)('a client that gives each answer to the next who asks', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  function clientOutOfStep() {
    let last: Promise<unknown> = Promise.resolve(null)
    const shifted = {
      isOutOfStep: false,
      sendCommand(args: string[]): Promise<unknown> {
        const own = client.sendCommand(args as [string, ...string[]])
        own.catch(() => {})
        const given = shifted.isOutOfStep ? last : own
        last = own
        return given
      },
    }
    return shifted
  }

  test('is not believed: messages are held, and take effect once', async () => {
    const hashTag = freshTag()
    const effects = `effects:{${hashTag}}`
    const shifted = clientOutOfStep()
    // Claims whose answer went to somebody else run out soon.
    const options = { mode: 'isolated', hashTag, recordTtlMs: aDayMs, leaseMs: 1_000, onWarning: () => {} } as const
    const store = redisStore({ client: shifted, ...options })
    const transport = memoryTransport()
    const app = justonce({ store, transport, concurrency: 2, pollMs: 20, log: false })
    const isDown = Promise.withResolvers<void>()
    app.events.listen((event) => void (event.kind === 'store-down' && isDown.resolve()))
    app.on('note.created', 'tag-note', (message, { tx }) => tx.command('HINCRBY', effects, message.id, 1))
    await app.start()
    const ids = Array.from({ length: 60 }, (_, index) => `m${index}`)
    const send = (some: readonly string[]) => {
      for (const id of some) transport.send([{ id, type: 'note.created', body: { id } }])
    }
    send(ids.slice(0, 10))
    await transport.idle()
    shifted.isOutOfStep = true
    send(ids.slice(10))
    await isDown.promise
    shifted.isOutOfStep = false
    await transport.idle()
    await expect.poll(() => countParked(store)).toBe(0)
    await app.stop()
    expect(await client.hGetAll(effects)).toEqual(Object.fromEntries(ids.map((id) => [id, '1'])))
  })
})
