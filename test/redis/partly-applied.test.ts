import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isJustonceError, justonce, once } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { redisStore } from '../../src/stores/redis/index.ts'
import { requireServer } from '../servers/require.ts'
import { aDayMs, connected, freshTag, isolatedStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')

describe.skipIf(!redis.available)('a command that fails at the commit', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  /** Raises a counter, then does to a text what only a list can take, then raises another. */
  function open() {
    const tag = freshTag()
    const key = (name: string): string => `effects:{${tag}}:${name}`
    const store = isolatedStore(client, tag)
    const transport = memoryTransport()
    const app = justonce({ store, transport, pollMs: 20, batch: { max: 50 } })
    const ran: string[] = []
    const count = async (name: string): Promise<number> => Number((await client.get(key(name))) ?? 0)
    const handle = async (...ids: string[]): Promise<void> => {
      transport.send(ids.map((id) => ({ id, type: 'note.created', body: { id } })))
      await transport.idle()
    }
    return { key, store, app, transport, ran, count, handle }
  }

  test('is a dead letter, is never run again, and its neighbours in the batch take effect once', async () => {
    const { key, store, app, transport, ran, count, handle } = open()
    await client.set(key('a text'), 'no list')
    app.on('note.created', 'tag-note', async (message, { tx }) => {
      ran.push(message.id)
      await tx.command('INCR', key(message.id))
      if (message.id === 'm2') await tx.command('LPUSH', key('a text'), 'x')
      await tx.command('INCR', key(`${message.id} end`))
    })
    transport.send(['m1', 'm2', 'm3'].map((id) => ({ id, type: 'note.created', body: { id } })))
    await app.start()
    await transport.idle()
    await handle('m2', 'm1')
    await app.stop()

    expect(ran.toSorted()).toEqual(['m1', 'm2', 'm3'])
    for (const id of ['m1', 'm2', 'm3']) expect([await count(id), await count(`${id} end`)]).toEqual([1, 1])
    const rows = await store.parking.list()
    expect(rows.map(({ key, state, reason }) => [key, state, reason])).toEqual([['m2', 'dead', 'PARTLY_APPLIED']])
    expect(rows[0]?.errors).toContain('WRONGTYPE')
    const records = await store.inbox.find(['m1', 'm2', 'm3'].map((id) => ({ handler: 'tag-note', key: id })))
    expect(records.map((record) => record?.state)).toEqual(['processed', 'parked', 'processed'])
  })

  test('of every message that a batch handler was given makes dead letters of them all', async () => {
    const { key, store, app, transport, ran, count } = open()
    await client.set(key('a text'), 'no list')
    app.onBatch('note.created', 'tag-notes', async (messages, { tx }) => {
      ran.push(...messages.map(({ id }) => id))
      for (const { id } of messages) await tx.command('INCR', key(id))
      await tx.command('LPUSH', key('a text'), 'x')
    })
    transport.send(['m1', 'm2', 'm3'].map((id) => ({ id, type: 'note.created', body: { id } })))
    await app.start()
    await transport.idle()
    await app.stop()
    expect(ran.toSorted()).toEqual(['m1', 'm2', 'm3'])
    expect(await Promise.all(['m1', 'm2', 'm3'].map(count))).toEqual([1, 1, 1])
    const rows = await store.parking.list({ state: 'dead', reason: 'PARTLY_APPLIED' })
    expect(rows.map((row) => row.key).sort()).toEqual(['m1', 'm2', 'm3'])
  })

  test('in a retry ends the retries', async () => {
    const { key, store, app, transport, ran, count } = open()
    await client.set(key('a text'), 'no list')
    const options = { name: 'tag-note', retry: { attempts: 5, backoff: () => 0 } }
    app.on('note.created', options, async (message, { tx }) => {
      ran.push(message.id)
      if (ran.length === 1) throw new Error('not yet')
      await tx.command('INCR', key('m1'))
      await tx.command('LPUSH', key('a text'), 'x')
    })
    transport.send([{ id: 'm1', type: 'note.created', body: {} }])
    await app.start()
    await transport.idle()
    await expect.poll(() => countParked(store, { state: 'dead' })).toBe(1)
    await app.stop()
    expect(ran).toEqual(['m1', 'm1'])
    expect(await count('m1')).toBe(1)
    const [row] = await store.parking.list()
    expect(row).toMatchObject({ key: 'm1', reason: 'PARTLY_APPLIED', begun: 0 })
    expect(JSON.parse(row?.errors ?? '')).toHaveLength(2)
  })

  test.for(['reached no handler', 'reused a key that is free now'])(
    'in a letter that %s is a dead letter again, and fails its redrive',
    async (what) => {
      const { key, store, app, transport, ran, count, handle } = open()
      await client.set(key('a text'), 'no list')
      const isReused = what !== 'reached no handler'
      const earlier = justonce({ store, transport })
      earlier.on(isReused ? 'note.created' : 'note.removed', 'tag-note', () => {})
      await earlier.start()
      if (isReused) transport.send([{ id: 'm1', type: 'note.created', body: 'another' }])
      await transport.idle()
      await handle('m1')
      await earlier.stop()
      expect(await countParked(store, { state: 'dead' })).toBe(1)
      if (isReused)
        await app.operations.records.forget({ handler: 'tag-note', key: 'm1' }, { by: 'ada', why: 'a test' })

      app.on('note.created', 'tag-note', async (message, { tx }) => {
        ran.push(message.id)
        await tx.command('INCR', key('m1'))
        await tx.command('LPUSH', key('a text'), 'x')
      })
      await app.start()
      const { id } = await app.operations.letters.redrive('all', { by: 'ada', why: 'it can be handled now' })
      await expect.poll(async () => (await app.operations.letters.redriveStatus(id)).state).toBe('finished')
      await app.stop()
      expect(ran).toEqual(['m1'])
      expect(await count('m1')).toBe(1)
      const rows = await store.parking.list()
      expect(rows.map(({ handler, key, state, reason }) => [handler, key, state, reason])).toEqual([
        ['tag-note', 'm1', 'dead', 'PARTLY_APPLIED'],
      ])
      expect(await app.operations.letters.redriveStatus(id)).toMatchObject({ failed: 1, succeeded: 0 })
    },
  )

  test('is not taken along by a redrive of many, even if it was redriven since and failed in another way', async () => {
    const { key, store, app, ran, count, handle } = open()
    await client.set(key('a text'), 'no list')
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, async (message, { tx }) => {
      ran.push(message.id)
      if (ran.length > 1) throw new Error('out of order')
      await tx.command('INCR', key('m1'))
      await tx.command('LPUSH', key('a text'), 'x')
    })
    await app.start()
    await handle('m1')
    const { letters } = app.operations
    const me = { by: 'ada', why: 'a test' }
    const { id } = await letters.redrive({ handler: 'tag-note', key: 'm1' }, me)
    await expect.poll(async () => (await letters.redriveStatus(id)).state).toBe('finished')
    expect(ran).toEqual(['m1', 'm1'])
    await expect(letters.redrive('all', me)).rejects.toSatisfy((error) => isJustonceError(error, 'PARTLY_APPLIED'))
    await app.stop()
    expect(await count('m1')).toBe(1)
    const [row] = await store.parking.list()
    expect(row).toMatchObject({ state: 'dead', reason: 'PARTLY_APPLIED', shape: 'Error: out of order' })
  })

  test('in two handlers of a message makes dead letters of both, and the second does not wait for the first', async () => {
    const { key, store, app, ran, count, handle } = open()
    await client.set(key('a text'), 'no list')
    for (const name of ['tag-note', 'file-note'])
      app.on('note.created', name, async (_, { tx }) => {
        ran.push(name)
        await tx.command('INCR', key(name))
        await tx.command('LPUSH', key('a text'), 'x')
      })
    await app.start()
    await handle('m1')
    await expect.poll(() => countParked(store)).toBe(2)
    await app.stop()
    expect(ran).toEqual(['tag-note', 'file-note'])
    expect(await Promise.all(ran.map(count))).toEqual([1, 1])
    const rows = await store.parking.list()
    expect(rows.map(({ handler, state, reason }) => [handler, state, reason])).toEqual([
      ['tag-note', 'dead', 'PARTLY_APPLIED'],
      ['file-note', 'dead', 'PARTLY_APPLIED'],
    ])
  })

  test('is not forgotten when the process dies before it has made a dead letter of it', async () => {
    const { key, store, app, transport, ran, count } = open()
    await client.set(key('a text'), 'no list')
    // What is left when nobody comes to park it.
    const died = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }])
      await tx.command('INCR', key('m1'))
      await tx.command('LPUSH', key('a text'), 'x')
    })
    await expect(died).rejects.toSatisfy((error) => isJustonceError(error, 'PARTLY_APPLIED'))
    app.on('note.created', { name: 'tag-note', fingerprint: 'none' }, (message) => void ran.push(message.id))
    transport.send([{ id: 'm1', type: 'note.created', body: {} }])
    await app.start()
    await transport.idle()
    await app.stop()
    expect(ran).toEqual([])
    expect(await count('m1')).toBe(1)
    expect(await countParked(store, { state: 'dead', reason: 'PARTLY_APPLIED', key: 'm1' })).toBe(1)
  })

  test('is reported again to a client that sends the commit twice, as one does after a lost connection', async () => {
    const tag = freshTag()
    const key = (name: string): string => `effects:{${tag}}:${name}`
    await client.set(key('a text'), 'no list')
    const doubling = {
      async sendCommand(args: string[]): Promise<unknown> {
        await client.sendCommand(args)
        return await client.sendCommand(args)
      },
    }
    const store = redisStore({ client: doubling, mode: 'isolated', hashTag: tag, recordTtlMs: aDayMs })
    const transport = memoryTransport()
    const app = justonce({ store, transport })
    app.on('note.created', 'tag-note', async (_, { tx }) => {
      await tx.command('INCR', key('m1'))
      await tx.command('LPUSH', key('a text'), 'x')
    })
    transport.send([{ id: 'm1', type: 'note.created', body: {} }])
    await app.start()
    await transport.idle()
    await app.stop()
    expect(await client.get(key('m1'))).toBe('1')
    const rows = await store.parking.list()
    expect(rows.map(({ key, state, reason }) => [key, state, reason])).toEqual([['m1', 'dead', 'PARTLY_APPLIED']])
    expect(rows[0]?.errors).toContain('WRONGTYPE')
  })

  test('in once() is reported, each time', async () => {
    const { key, store, count } = open()
    await client.set(key('a text'), 'no list')
    const call = () =>
      once(store, { handler: 'charge', key: 'e1' }, async (tx) => {
        await tx.command('INCR', key('e1'))
        await tx.command('LPUSH', key('a text'), 'x')
      })
    for (let turn = 0; turn < 2; turn++)
      await expect(call()).rejects.toSatisfy((error) => isJustonceError(error, 'PARTLY_APPLIED'))
    expect(await count('e1')).toBe(1)
  })

  test.for([
    ['NOSUCH', 'a'],
    ['SET', 'only a key'],
    ['GET', 'a key'],
    ['EVAL', 'return 1', '0'],
    ['SUBSCRIBE', 'news'],
    ['CONFIG', 'SET', 'appendonly', 'no'],
  ])('is found before the commit where the server can tell: %s', async ([name = '', ...args]) => {
    const { key, store, count } = open()
    const work = store.transaction(async (tx) => {
      await tx.command('INCR', key('m1'))
      await tx.command(name, ...args)
    })
    await expect(work).rejects.toSatisfy((error) => isJustonceError(error, 'STORE_CANNOT'))
    expect(await count('m1')).toBe(0)
  })
})
