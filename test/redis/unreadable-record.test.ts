import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { parkedMessage, recordOf } from '../../src/testing/sample-records.ts'
import { requireServer } from '../servers/require.ts'
import { connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')
const handler = 'tag-note'
/** The type of a key that holds no text at all. */
const aHash = 'hash'
const request = (key: string) => ({ handler, key, fingerprint: undefined })

/** Another program has written there, or a value was cut off. */
describe.skipIf(!redis.available)('a record that cannot be read', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  async function open(value: string) {
    const tag = freshTag()
    const store = isolatedStore(client, tag)
    await store.transaction((tx) => store.inbox.claim(tx, [request('bad')]))
    const [name = ''] = await client.keys(`*{${tag}}*inbox:*`)
    const spoil = async (): Promise<void> => {
      await client.del(name)
      if (value === aHash) await client.hSet(name, 'a', 'b')
      else await client.set(name, value)
    }
    await spoil()
    return { store, name, spoil, counter: `effects:{${tag}}` }
  }

  test.each(['', 'p', 'z1 -', 'p17 ', 'garbage', '{"json":1}', aHash])(
    '%j: its message does not run, and others do',
    async (value) => {
      const { store, name, counter } = await open(value)
      await expect(store.transaction((tx) => store.inbox.claim(tx, [request('bad')]))).rejects.toMatchObject({
        code: 'RECORD_UNREADABLE',
        message: expect.stringContaining(name),
      })
      const transport = memoryTransport()
      const app = justonce({ store, transport, log: false })
      const ran: string[] = []
      app.on('note.created', handler, async ({ id }, { tx }) => {
        ran.push(id)
        await tx.command('INCR', counter)
      })
      const stuck = new Promise((resolve) => {
        app.events.listen((event) => event.kind === 'stuck' && resolve(event.error))
      })
      await app.start()
      transport.send(['bad', 'good'].map((id) => ({ id, type: 'note.created', body: {} })))
      expect(await stuck).toMatchObject({ code: 'RECORD_UNREADABLE' })
      await expect.poll(() => ran).toContain('good')
      await app.stop()
      expect([ran, await client.get(counter)]).toEqual([['good'], '1'])
      expect(value === aHash ? await client.type(name) : await client.get(name)).toBe(value)
    },
  )

  test('people who ask for it are given its name', async () => {
    const { store, name } = await open('garbage')
    const unreadable = { code: 'RECORD_UNREADABLE', message: expect.stringContaining(name) }
    await expect(recordOf(store, request('bad'))).rejects.toMatchObject(unreadable)
    await expect(store.transaction((tx) => store.inbox.forget(tx, [request('bad')]))).rejects.toMatchObject(unreadable)
  })

  test.each(['garbage', aHash])(
    '%s, of a message that is retried: nothing of the attempt is applied',
    async (value) => {
      const { store, name, spoil, counter } = await open(value)
      await store.transaction((tx) => store.parking.park(tx, [{ ...parkedMessage('bad'), handler }]))
      await spoil()
      const attempt = store.transaction(async (tx) => {
        await tx.command('INCR', counter)
        await store.inbox.update(tx, [{ handler, key: 'bad', state: 'processed' }])
      })
      await expect(attempt).rejects.toMatchObject({ code: 'RECORD_UNREADABLE', message: expect.stringContaining(name) })
      expect(await client.get(counter)).toBeNull()
    },
  )
})
