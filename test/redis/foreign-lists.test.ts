import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { packed, parkedMessage } from '../../src/testing/sample-records.ts'
import { requireServer } from '../servers/require.ts'
import { connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')
const handler = 'tag-note'
const unreadable = (name: string) => ({ code: 'RECORD_UNREADABLE', message: expect.stringContaining(name) })

describe.skipIf(!redis.available)('a value of another program where the store keeps its own', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  function open() {
    const tag = freshTag()
    const key = (name: string): string => `justonce:{${tag}}:${name}`
    return { store: isolatedStore(client, tag), key, counter: `effects:{${tag}}` }
  }

  const steps = `steps:${JSON.stringify(['default', 'note.created', 'm1'])}`
  const scope = JSON.stringify([handler, 'k1'])
  const row = `parked:${JSON.stringify([handler, 'm1'])}`
  const ofRows = ['parked-all', 'parked-dead', `due:${handler}`, `due-past-dead:${handler}`, 'parked-sequence']

  test.each([...ofRows, steps, `scope:${scope}`, `scope-waiting:${scope}`, row])(
    'text in %s: nothing of a commit that parks is applied, and the error names the key',
    async (name) => {
      const { store, key, counter } = open()
      const message = { ...parkedMessage('m1'), handler, source: 'default', type: 'note.created', orderKey: 'k1' }
      const parks = () =>
        store.transaction(async (tx) => {
          await store.inbox.claim(tx, [{ handler, key: 'm1', fingerprint: undefined }])
          await tx.command('INCR', counter)
          await store.parking.park(tx, [message])
        })
      await client.set(key(name), 'text')
      await expect(parks()).rejects.toMatchObject(unreadable(key(name)))
      expect(await client.get(counter)).toBeNull()
      await client.del(key(name))
      await parks()
      expect([await client.get(counter), await client.exists(key(row))]).toEqual(['1', 1])

      await client.set(key(name), 'text')
      const retries = store.transaction(async (tx) => {
        await tx.command('INCR', counter)
        await store.parking.change(tx, [{ handler, key: 'm1', kind: 'done' }])
      })
      if (name !== 'parked-sequence') await expect(retries).rejects.toMatchObject(unreadable(key(name)))
      else await retries
      expect(await client.get(counter)).toBe(name === 'parked-sequence' ? '2' : '1')
    },
  )

  test.each([
    'queues',
    'queue-all:notes',
    'queue-ready:notes',
    'queue-sequence',
    'facts',
    'facts-expiring',
    'facts-of:kind',
    'epochs',
  ])('text in %s: nothing of a commit that changes it is applied, and the error names the key', async (name) => {
    const { store, key, counter } = open()
    await client.set(key(name), 'text')
    const writes = store.transaction(async (tx) => {
      await tx.command('INCR', counter)
      if (name.startsWith('queue')) await store.queue.send(tx, 'notes', [{ message: packed('m1'), key: undefined }])
      else if (name.startsWith('facts')) await store.facts.remove(tx, ['kind one'])
      else await store.inbox.forget(tx, [])
    })
    await expect(writes).rejects.toMatchObject(unreadable(key(name)))
    expect(await client.get(counter)).toBeNull()
  })

  test('a failed message is not reported as parked until it is, and it is tried again when the key is free', async () => {
    const { store, key, counter } = open()
    await client.set(key('parked-all'), 'text')
    const transport = memoryTransport()
    const app = justonce({ store, transport, log: false })
    let fails = true
    app.on('note.created', { name: handler, retry: { attempts: 3, backoff: () => 1 } }, async ({ id }, { tx }) => {
      await tx.command('INCR', `${counter}${id}`)
      if (id === 'bad' && fails) throw new Error('not yet')
    })
    const seen: string[] = []
    const stuck = new Promise((resolve) => {
      app.events.listen((event) => {
        seen.push(event.kind)
        if (event.kind === 'stuck') resolve(event.error)
      })
    })
    await app.start()
    transport.send(['bad', 'good'].map((id) => ({ id, type: 'note.created', body: {} })))
    expect(await stuck).toMatchObject(unreadable(key('parked-all')))
    expect(seen).not.toContain('parked')
    await expect.poll(() => client.get(`${counter}good`)).toBe('1')
    fails = false
    await client.del(key('parked-all'))
    await expect.poll(() => client.get(`${counter}bad`), { timeout: 20_000 }).toBe('1')
    await app.stop()
    expect(await client.get(`${counter}good`)).toBe('1')
  })

  test('an epoch that is no text stops claims, and the error names the key', async () => {
    const { store, key } = open()
    await client.hSet(key('epoch'), 'a', 'b')
    const claims = () =>
      store.transaction((tx) => store.inbox.claim(tx, [{ handler, key: 'm1', fingerprint: undefined }]))
    await expect(claims()).rejects.toMatchObject(unreadable(key('epoch')))
    await client.del(key('epoch'))
    expect(await claims()).toMatchObject({ existing: [undefined] })
  })
})
