import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { later, note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import type { Delivery } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { recordOf } from '../../testing/sample-records.ts'
import { toIncoming } from '../../transports/memory/message-to-send.ts'
import { handleDeliveries } from '../batch/handle-deliveries.ts'

type Options = Parameters<typeof openEngine>[0]

/** A consumer of one topic: what it is given has a place in a partition. */
async function openConsumer(options: Options = {}, dedup: 'position' | 'both' = 'position') {
  const opened = openEngine(options)
  const reread: string[] = []
  const positions = {
    group: 'group',
    dedup,
    async reread(deliveries: readonly Delivery[]) {
      reread.push(...deliveries.map(({ message }) => message.id ?? ''))
    },
  }
  const feed = { ...opened.feed, positions }
  const at = (next: number) => (next === 0 ? undefined : { next: String(next), incarnation: 'one' })
  /** From one position to another. */
  const deliver = (
    id: string,
    [from, to]: readonly [number, number],
    { partition = '0', type = 'note.created' }: { partition?: string; type?: string } = {},
  ): Delivery => ({
    message: toIncoming({ ...note(id), type }, 'notes'),
    lane: partition,
    place: { partition, from: at(from), to: { next: String(to), incarnation: 'one' } },
  })
  return {
    ...opened,
    deliver,
    reread,
    take: (...deliveries: Delivery[]) => handleDeliveries(opened.engine, feed, deliveries),
    stored: async (partition = '0') =>
      (await opened.store.positions.load('group', [{ source: 'notes', partition }]))[0]?.next,
  }
}

const tag = ({ id }: { id: string }, { tx }: { tx: Parameters<typeof write>[0] }) => write(tx, id)

test('effects and the position commit together; there is no record for each message', async () => {
  const { on, take, deliver, effects, stored, store, acknowledged } = await openConsumer()
  on('note.created', 'tag-note', tag)
  await take(deliver('m1', [0, 1]), deliver('m2', [1, 5]), deliver('n1', [0, 1], { partition: '1' }))
  expect(effects()).toEqual({ m1: 1, m2: 1, n1: 1 })
  expect([await stored('0'), await stored('1')]).toEqual(['5', '1'])
  expect(await recordOf(store, { handler: 'tag-note', key: 'm1' })).toBeUndefined()
  expect(acknowledged()).toEqual(['m1', 'm2', 'n1'])
})

test('a consumer that has lost its partition does nothing, and acknowledges nothing', async () => {
  const zombie = await openConsumer()
  const { database, clock } = zombie
  const owner = await openConsumer({ database, clock })
  for (const { on } of [zombie, owner]) on('note.created', 'tag-note', tag)
  await owner.take(owner.deliver('m1', [0, 1]), owner.deliver('m2', [1, 2]))
  const report = await zombie.take(zombie.deliver('m1', [0, 1]), zombie.deliver('n1', [0, 1], { partition: '1' }))
  expect(owner.effects()).toEqual({ m1: 1, m2: 1, n1: 1 })
  expect(await owner.stored()).toBe('2')
  expect(zombie.acknowledged()).toEqual(['n1'])
  expect(report.again).toEqual([])
})

test('who holds a partition and finds that the store has moved on reads it again', async () => {
  const { on, deliver, effects, take, stored, reread, acknowledged } = await openConsumer()
  on('note.created', 'tag-note', tag)
  await take(deliver('m1', [0, 1]), deliver('m2', [1, 2]))
  const report = await take(deliver('m2', [1, 2]), deliver('m3', [2, 3]))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(await stored()).toBe('2')
  expect(reread).toEqual(['m2', 'm3'])
  expect(acknowledged()).toEqual(['m1', 'm2'])
  expect([report.again, report.held]).toEqual([[], []])
})

test('what was read twice is handled once, and nothing in between is passed over', async () => {
  const { on, deliver, effects, take, stored } = await openConsumer()
  on('note.created', 'tag-note', tag)
  let left = [deliver('m1', [0, 1]), deliver('m2', [1, 2]), deliver('m1', [0, 1]), deliver('m2', [1, 2])]
  while (left.length > 0) left = [...(await take(...left)).again]
  expect(await stored()).toBe('2')
  // Something is missing before the last one.
  left = [deliver('m3', [2, 3]), deliver('m5', [4, 5])]
  while (left.length > 0) left = [...(await take(...left)).again]
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
  expect(await stored()).toBe('3')
})

test('a message that fails is parked, the partition goes on, and its retry takes effect once', async () => {
  const { on, take, deliver, effects, stored, store, clock, retry } = await openConsumer()
  let isBroken = true
  on('note.created', { name: 'tag-note', retry: { backoff: () => 1_000 } }, (message, context) => {
    tag(message, context)
    if (message.id === 'm2' && isBroken) throw new Error('no')
  })
  await take(deliver('m1', [0, 1]), deliver('m2', [1, 2]), deliver('m3', [2, 3]))
  expect(effects()).toEqual({ m1: 1, m3: 1 })
  expect(await stored()).toBe('3')
  isBroken = false
  await clock.advance(1_000)
  await retry()
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
  expect(await countParked(store)).toBe(0)
})

test('by position messages that have one id and fail are parked each, and none is taken for a copy of another', async () => {
  const { on, take, deliver, effects, store, clock, retry, eventsOf } = await openConsumer()
  let isBroken = true
  on('note.created', { name: 'tag-note', retry: { backoff: () => 1_000 } }, (message, context) => {
    tag(message, context)
    if (isBroken) throw new Error('no')
  })
  await take(deliver('m1', [0, 1]), deliver('m1', [1, 2]))
  await take(deliver('m1', [0, 1], { partition: '1' }))
  const parked = await store.parking.list()
  expect(parked.map(({ messageId }) => messageId)).toEqual(['m1', 'm1', 'm1'])
  expect(eventsOf('parked').map(({ key }) => key)).toEqual(parked.map(({ key }) => key))
  await clock.advance(1_000)
  await retry()
  isBroken = false
  for (let rounds = 0; rounds < 3; rounds++) {
    await clock.advance(1_000)
    await retry()
  }
  expect(effects()).toEqual({ m1: 3 })
  expect(await countParked(store)).toBe(0)
})

test('by position messages that have one id and reach no handler take effect each when they are tried again', async () => {
  const { on, take, deliver, effects, store, retry } = await openConsumer()
  await take(deliver('m1', [0, 1]), deliver('m1', [1, 2]))
  const letters = await store.parking.list()
  expect(letters.map(({ reason }) => reason)).toEqual(['TYPE_UNKNOWN', 'TYPE_UNKNOWN'])
  on('note.created', 'tag-note', tag)
  for (const { handler, key } of letters)
    await store.transaction(
      (tx) =>
        store.parking.change(tx, [
          { handler, key, kind: 'again', attempts: 0, delayMs: 0, reason: 'REDRIVEN', errors: '[]', shape: '' },
        ]),
      {},
    )
  while (await retry());
  expect(effects()).toEqual({ m1: 2 })
  expect(await countParked(store)).toBe(0)
})

test('of several handlers only the failed one is retried, and all of a message is one transaction', async () => {
  const { on, take, deliver, effects, clock, retry } = await openConsumer()
  let isBroken = true
  for (const name of ['first', 'second', 'third']) {
    on('note.created', { name, transaction: 'own', retry: { backoff: () => 1_000 } }, ({ id }, { tx }) => {
      write(tx, `${name} ${id}`)
      if (name === 'second' && isBroken) throw new Error('no')
    })
  }
  await take(deliver('m1', [0, 1]))
  expect(effects()).toEqual({ 'first m1': 1 })
  isBroken = false
  for (let rounds = 0; rounds < 2; rounds++) {
    await clock.advance(1_000)
    await retry()
  }
  expect(effects()).toEqual({ 'first m1': 1, 'second m1': 1, 'third m1': 1 })
})

test('a commit whose answer was lost is recognised by its position', async () => {
  const { on, take, deliver, effects, engine, store, acknowledged } = await openConsumer()
  on('note.created', 'tag-note', tag)
  let losses = 1
  const transaction: typeof store.transaction = async (work, options) => {
    const value = await store.transaction(work, options)
    if (losses-- > 0) throw new JustonceError('COMMIT_UNKNOWN', { message: 'The answer is lost.' })
    return value
  }
  Object.assign(engine, { store: { ...store, transaction } })
  await take(deliver('m1', [0, 1]), deliver('m2', [1, 2]))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(acknowledged()).toEqual(['m1', 'm2'])
})

const inThreeDays = { name: 'in-three-days', of: () => new Date('2030-01-04T00:00:00Z') }

test('by position no time in an id matters: what is known without a record waits for nothing', async () => {
  const { on, take, deliver, effects, store } = await openConsumer()
  on('note.created', { name: 'tag-note', born: inThreeDays }, tag)
  await take(deliver('m1', [0, 1]))
  expect(effects()).toEqual({ m1: 1 })
  expect(await countParked(store)).toBe(0)
})

test('what somebody else has handled by its position is not claimed: it may be waiting for its time', async () => {
  const behind = await openConsumer({}, 'both')
  const { database, clock, store } = behind
  const ahead = await openConsumer({ database, clock: fakeClock({ start: new Date('2030-01-06T00:00:00Z') }) }, 'both')
  for (const { on } of [behind, ahead]) on('note.created', { name: 'tag-note', born: inThreeDays }, tag)
  await behind.take(behind.deliver('m1', [0, 1]))
  await ahead.take(ahead.deliver('m1', [0, 1]))
  expect(await recordOf(store, { handler: 'tag-note', key: 'm1' })).toBeUndefined()
  await clock.advance(3 * 86_400_000)
  await ahead.retry()
  expect(ahead.effects()).toEqual({ m1: 1 })
})

test('messages that nobody handles, or that nobody can read, count as handled', async () => {
  const { on, take, deliver, effects, stored, store } = await openConsumer()
  on('note.created', 'tag-note', tag)
  const unreadable = { ...deliver('m2', [1, 2]), message: { ...deliver('m2', [1, 2]).message, body: Buffer.from('{') } }
  await take(deliver('m1', [0, 1]), unreadable, deliver('m3', [2, 3], { type: 'unknown' }), deliver('m4', [3, 4]))
  expect(effects()).toEqual({ m1: 1, m4: 1 })
  expect(await stored()).toBe('4')
  expect((await store.parking.list()).map(({ reason }) => reason)).toEqual(['BODY_NOT_JSON', 'TYPE_UNKNOWN'])
})

test('a producer that sent twice: by position both run, with both the second is known by its id', async () => {
  for (const [dedup, count] of [
    ['position', 2],
    ['both', 1],
  ] as const) {
    const { on, take, deliver, effects, stored } = await openConsumer({}, dedup)
    on('note.created', 'tag-note', tag)
    let left = [deliver('m1', [0, 1]), deliver('m1', [1, 2]), deliver('m2', [2, 3])]
    while (left.length > 0) left = [...(await take(...left)).again]
    expect(effects()).toEqual({ m1: count, m2: 1 })
    expect(await stored()).toBe('3')
  }
})

test('behind a breaker a partition waits in order', async () => {
  const { on, take, deliver, stored, store } = await openConsumer()
  on('note.created', { name: 'tag-note', breaker: { after: 1, pauseMs: 1_000 }, ...later }, () => {
    throw new Error('a bad deploy')
  })
  await take(deliver('m1', [0, 1]))
  const report = await take(deliver('m2', [1, 2]), deliver('m3', [2, 3]))
  expect(report.stopped.map(({ message }) => message.id)).toEqual(['m2', 'm3'])
  expect(report.again).toEqual([])
  expect(await stored()).toBe('1')
  expect(await countParked(store)).toBe(1)
})

test('messages of a partition whose position is kept do not mix, even if their handler interleaves; other partitions do', async () => {
  const { on, take, deliver } = await openConsumer()
  const order: string[] = []
  on('note.created', { name: 'tag-note', interleave: true }, async ({ id }) => {
    order.push(`${id} begins`)
    await setImmediate()
    order.push(`${id} ends`)
  })
  await take(deliver('m1', [0, 1]), deliver('m2', [1, 2]), deliver('n1', [0, 1], { partition: '1' }))
  expect(order.filter((step) => step.startsWith('m'))).toEqual(['m1 begins', 'm1 ends', 'm2 begins', 'm2 ends'])
  expect(order.indexOf('n1 begins')).toBeLessThan(order.indexOf('m1 ends'))
})
