import { afterEach, describe, expect, test, vi } from 'vitest'
import { justonce, PermanentError, sharded } from '../../src/index.ts'
import { memoryTransport } from '../../src/transports/memory/index.ts'
import { requireServer } from '../servers/require.ts'
import { openShards, order, shards, type World } from './sharded-world.ts'

vi.setConfig({ testTimeout: 120_000 })
const server = await requireServer('postgres')
const signed = { by: 'test', why: 'repaired' }

const ending: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end()
})

/** Its first deploy knows no tenant, and its handlers fail as long as a test wants. */
async function open({ isOrdered = false } = {}) {
  const world = await openShards(server.url)
  const deploy = { knowsTenants: false, fails: false }
  const broker = memoryTransport()
  const app = sharded({
    from: broker,
    shards: world.openStores(),
    shardOf: ({ headers }) => (deploy.knowsTenants ? String(headers.tenant) : (undefined as never)),
    unknown: 'eu',
    app({ shard, store, from }) {
      const app = justonce({ name: `orders-${shard}`, store, from, pollMs: 20, log: false })
      const ordered = isOrdered && { ordered: { by: 'key' } as const }
      app.on('order.paid', { name: 'pay', ...ordered }, async ({ id }, { tx }) => {
        await tx.query('INSERT INTO effects VALUES ($1, $2)', [id, shard])
        if (deploy.fails) throw new PermanentError('not today')
      })
      app.on('order.paid', 'thank', async ({ id }, { tx }) => {
        await tx.query('INSERT INTO effects VALUES ($1, $2)', [`thanks for ${id}`, shard])
      })
      return app
    },
  })
  ending.push(
    () => world.close(),
    () => app.stop({ withinMs: 5_000 }),
  )
  await app.start()
  return { world, broker, deploy, app }
}

const all = [order('eu', 1), order('us', 1), order('us', 2), order('asia', 1), order('mars', 1)]
const effectsOf = async (world: World) =>
  Object.fromEntries(await Promise.all(shards.map(async (shard) => [shard, await world.effects(shard)] as const)))
const both = (...ids: string[]) => [...ids, ...ids.map((id) => `thanks for ${id}`)].sort()

describe.skipIf(!server.available)('dead letters of several databases', () => {
  test('a redrive runs a message only in the shard to which it belongs, and reassign() hands over the others', async () => {
    const { world, broker, deploy, app } = await open()
    broker.send(all)
    await broker.idle()
    const { letters } = app.apps.eu.operations
    expect((await letters.list()).map(({ reason }) => reason)).toEqual(Array(5).fill('SHARD_UNKNOWN'))
    deploy.knowsTenants = true

    const redrive = await letters.redrive('all', { ...signed, stopAfterFailures: 100 })
    await expect.poll(async () => (await letters.redriveStatus(redrive.id)).state).toBe('finished')
    // The later handler gets its turn after the redrive.
    await expect.poll(() => effectsOf(world)).toEqual({ eu: both('eu-001'), us: [], asia: [] })

    expect(await app.reassign(signed)).toEqual({ moved: 3, redriven: 0, left: 1 })
    const repaired = { eu: both('eu-001'), us: both('us-001', 'us-002'), asia: both('asia-001') }
    expect(await effectsOf(world)).toEqual(repaired)
    expect((await letters.list()).map(({ messageId, reason }) => [messageId, reason])).toEqual([
      ['mars-001', 'SHARD_UNKNOWN'],
    ])
    // Late copies of everything meet a record.
    broker.send([...all.slice(0, 4), ...all.slice(0, 4)])
    await broker.idle()
    expect(await effectsOf(world)).toEqual(repaired)
  })

  test('discarding one does not let its later handlers run in the wrong shard', async () => {
    const { world, broker, deploy, app } = await open()
    broker.send([order('us', 1), order('eu', 1)])
    await broker.idle()
    deploy.knowsTenants = true
    const { letters, retries } = app.apps.eu.operations
    expect(await letters.discard({ handler: 'pay' }, signed)).toBe(2)
    // The later handler of eu-001 goes on, as it does behind any discarded letter; that of us-001 is a letter of its own.
    await expect.poll(() => effectsOf(world)).toEqual({ eu: ['thanks for eu-001'], us: [], asia: [] })
    await expect.poll(() => retries.list()).toEqual([])
    expect(await letters.list()).toMatchObject([{ messageId: 'us-001', handler: 'thank', reason: 'SHARD_UNKNOWN' }])
  })

  test('a type without a handler does not hide that the shard was not known', async () => {
    const { broker, app } = await open()
    broker.send([{ ...order('us', 1), type: 'order.new' }])
    await broker.idle()
    expect(await app.apps.eu.operations.letters.list()).toMatchObject([{ reason: 'SHARD_UNKNOWN', handler: '-' }])
  })

  test('reassign() redrives what belongs where it is, and two at once repeat nothing', async () => {
    const { world, broker, deploy, app } = await open()
    broker.send(all)
    await broker.idle()
    deploy.knowsTenants = true
    await Promise.all([app.reassign(signed), app.reassign(signed)])
    await app.reassign(signed)
    const repaired = { eu: both('eu-001'), us: both('us-001', 'us-002'), asia: both('asia-001') }
    await expect.poll(() => effectsOf(world)).toEqual(repaired)
    expect(await app.reassign(signed)).toEqual({ moved: 0, redriven: 0, left: 1 })
  })

  test('reassign() hands over what waits behind a message of its key, in its order', async () => {
    const { world, broker, deploy, app } = await open({ isOrdered: true })
    const ofKey = (shard: string, ...places: number[]) => places.map((place) => ({ ...order(shard, place), key: 'k' }))
    const chain = [...ofKey('us', 1, 2), ...ofKey('mars', 3), ...ofKey('us', 4), ...ofKey('eu', 5)]
    broker.send(chain)
    await broker.idle()
    deploy.knowsTenants = true
    expect(await app.reassign(signed)).toEqual({ moved: 3, redriven: 0, left: 1 })
    const ours = ['us-001', 'us-002', 'us-004']
    const { rows } = await world.direct.us.query('SELECT message FROM effects ORDER BY ctid')
    expect(rows.map(({ message }) => message).filter((message) => ours.includes(message))).toEqual(ours)
    const { letters, retries } = app.apps.eu.operations
    const dead = async () => (await letters.list({ handler: 'pay' })).map(({ messageId }) => messageId)
    await expect.poll(dead).toEqual(['mars-003'])
    // What belongs where it is goes on waiting for its turn.
    expect((await retries.list({ handler: 'pay' })).map(({ messageId }) => messageId)).toEqual(['eu-005'])
    await letters.discard({ handler: 'pay' }, signed)
    await expect.poll(() => world.effects('eu')).toContain('eu-005')
    broker.send(chain.filter(({ id }) => ours.includes(id)))
    await broker.idle()
    expect((await world.effects('us')).filter((message) => ours.includes(message))).toEqual(ours)
  })

  test('a message that fails where it belongs is a dead letter there, and no longer where it was', async () => {
    const { broker, deploy, app } = await open()
    broker.send([order('us', 1)])
    await broker.idle()
    Object.assign(deploy, { knowsTenants: true, fails: true })
    await app.reassign(signed)
    const found = await app.operations.letters.list()
    expect(found).toMatchObject({
      eu: { kind: 'answered', value: [] },
      us: { kind: 'answered', value: [{ messageId: 'us-001', handler: 'pay', reason: 'HANDLER_FAILED' }] },
      asia: { kind: 'answered', value: [] },
    })
  })
})

describe.skipIf(!server.available)('operations on all databases', () => {
  test('list, count, redrive and discard everywhere; a shard that is down answers with its error, and the others answer', async () => {
    const { world, broker, deploy, app } = await open()
    Object.assign(deploy, { knowsTenants: true, fails: true })
    broker.send([...shards.flatMap((shard) => [order(shard, 1), order(shard, 2)])])
    await broker.idle()
    const { letters, overview, messages } = app.operations
    const counts = async () =>
      Object.fromEntries(
        Object.entries(await letters.list()).map(([shard, each]) => [
          shard,
          each.kind === 'answered' ? each.value.length : 'failed',
        ]),
      )
    expect(await counts()).toEqual({ eu: 2, us: 2, asia: 2 })
    expect((await messages.story('us-001')).us).toMatchObject({ kind: 'answered', value: { id: 'us-001' } })

    await world.cut('us')
    await expect.poll(counts).toEqual({ eu: 2, us: 'failed', asia: 2 })
    expect(await overview()).toMatchObject({ eu: { kind: 'answered' }, us: { kind: 'failed' } })
    deploy.fails = false
    expect(await letters.redrive({ messageId: 'eu-001' }, signed)).toMatchObject({
      eu: { kind: 'answered', value: { selected: 1 } },
      us: { kind: 'failed' },
    })
    await expect.poll(() => world.effects('eu')).toEqual(both('eu-001'))
    await world.proxies.us.accept()
    await expect.poll(counts, { timeout: 30_000 }).toEqual({ eu: 1, us: 2, asia: 2 })
    expect(await letters.discard('all', signed)).toEqual({
      eu: { kind: 'answered', value: 1 },
      us: { kind: 'answered', value: 2 },
      asia: { kind: 'answered', value: 2 },
    })
    expect(await counts()).toEqual({ eu: 0, us: 0, asia: 0 })
  })
})
