import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isJustonceError, justonce } from '../../src/index.ts'
import { queueTransport } from '../../src/transports/queue/index.ts'
import { requireServer } from '../servers/require.ts'
import { connected, freshTag, isolatedStore, leaseStore, type TestClient } from './open-redis.ts'

const redis = await requireServer('redis')
const bytes = new TextEncoder().encode('{}')
const message = { message: { envelope: bytes, body: bytes }, key: undefined }

describe.skipIf(!redis.available)('a queue in Redis', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connected(redis.url)
  })
  afterAll(() => client?.destroy())

  test('keeps the message of a transaction of which a command failed, until somebody has seen to it', async () => {
    const tag = freshTag()
    const { inbox, queue, transaction } = isolatedStore(client, tag)
    await client.set(`effects:{${tag}}`, 'no list')
    await queue.send(undefined, 'notes', [message])
    const [taken] = await queue.take('notes', { limit: 1, visibilityMs: 60_000 })
    const work = transaction(async (tx) => {
      await inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }])
      await queue.remove(tx, 'notes', [taken?.ticket ?? ''])
      await queue.send(tx, 'others', [message])
      await tx.command('LPUSH', `effects:{${tag}}`, 'x')
    })
    await expect(work).rejects.toSatisfy((error) => isJustonceError(error, 'PARTLY_APPLIED'))
    expect(await queue.count('notes')).toMatchObject({ hidden: 1 })
    expect(await queue.count('others')).toMatchObject({ ready: 1 })
  })

  test('serves an app: what fails at the commit is a dead letter, the rest takes effect once', async () => {
    const tag = freshTag()
    const store = isolatedStore(client, tag)
    await client.set(`text:{${tag}}`, 'no list')
    const transport = queueTransport({ store, queue: 'notes', pollMs: 20 })
    const app = justonce({ store, transport, pollMs: 20 })
    app.on('note.created', 'tag-note', async ({ id }, { tx }) => {
      await tx.command('INCR', `effects:{${tag}}:${id}`)
      if (id === 'm2') await tx.command('LPUSH', `text:{${tag}}`, 'x')
    })
    const ids = ['m1', 'm2', 'm3']
    const rest = { type: 'note.created', body: bytes, headers: {}, sentAt: new Date() }
    await transport.publish([...ids, ...ids].map((id) => ({ id, ...rest })))
    await app.start()
    await expect.poll(() => store.queue.count('notes')).toMatchObject({ ready: 0, hidden: 0 })
    await app.stop()
    for (const id of ids) expect(await client.get(`effects:{${tag}}:${id}`)).toBe('1')
    const letters = await store.parking.list({ state: 'dead' })
    expect(letters.map(({ key, reason }) => [key, reason])).toEqual([['m2', 'PARTLY_APPLIED']])
  })

  test('hides nothing for long that was taken while the clock of the server was ahead, and takes it from nobody', async () => {
    const tag = freshTag()
    const { queue } = leaseStore(client, tag)
    const takeAll = () => queue.take('notes', { limit: 10, visibilityMs: 60_000 })
    await queue.send(undefined, 'notes', [message])
    expect(await takeAll()).toHaveLength(1)
    const [hiddenKey = ''] = await client.keys(`*${tag}*queue-later:notes`)
    const [row] = await client.zRangeWithScores(hiddenKey, 0, 0)
    await client.zAdd(hiddenKey, { value: row?.value ?? '', score: (row?.score ?? 0) + 40 * 86_400_000 })
    expect(await takeAll()).toEqual([])
    const left = ((await client.zScore(hiddenKey, row?.value ?? '')) ?? 0) - (row?.score ?? 0)
    expect(left).toBeGreaterThan(0)
    expect(left).toBeLessThan(3_600_000)
  })

  test('gives no ticket twice, also when everything was flushed: a late holder cannot remove another message', async () => {
    const tag = freshTag()
    const { queue } = leaseStore(client, tag)
    const takeOne = async () => (await queue.take('notes', { limit: 1, visibilityMs: 60_000 }))[0]?.ticket ?? ''
    await queue.send(undefined, 'notes', [message])
    const late = await takeOne()
    // As FLUSHALL does; other tests share the server.
    for await (const keys of client.scanIterator({ MATCH: `*{${tag}}*` })) if (keys.length > 0) await client.del(keys)
    await queue.send(undefined, 'notes', [message])
    expect(await takeOne()).not.toBe(late)
    await queue.remove(undefined, 'notes', [late])
    expect(await queue.count('notes')).toMatchObject({ hidden: 1 })
  })

  test('leaves nothing behind when it is empty, whatever was asked of it', async () => {
    const tag = freshTag()
    const { queue } = leaseStore(client, tag)
    const messages = ['a', 'a', 'b', undefined].map((key) => ({ ...message, key }))
    await queue.send(undefined, '>notes', messages)
    const taken = await queue.take('>notes', { limit: 3, visibilityMs: 60_000 })
    await queue.hide('>notes', taken.slice(0, 1), 60_000)
    await queue.hide('>notes', taken.slice(1), 0, { untaken: true })
    const rest = await queue.take('>notes', { limit: 10, visibilityMs: 60_000 })
    expect(rest.map(({ deliveries }) => deliveries)).toEqual([1, 1])
    expect(await queue.queues()).toEqual(['>notes'])
    const tickets = [...taken, ...rest].map(({ ticket }) => ticket)
    await queue.remove(undefined, 'notes', tickets)
    expect(await queue.count('>notes')).toMatchObject({ ready: 1, hidden: 3 })
    await queue.remove(undefined, '>notes', tickets)
    expect(await queue.queues()).toEqual([])
    const keys = await client.keys(`*{${tag}}:queue*`)
    expect(keys).toEqual([`justonce:{${tag}}:queue-sequence`])
  })
})
