import { expect, test } from 'vitest'
import { countParked } from '../../src/operations/index.ts'
import { later, note, openApp, write } from './open-app.ts'

/** Four handlers of one type; the third is broken until it is fixed. */
function openFour(options: { readonly independent?: boolean } = {}) {
  const opened = openApp()
  const state = { isBroken: true }
  const order: string[] = []
  const names = ['one', 'two', 'three', 'four'] as const
  for (const name of names) {
    opened.app.on(
      'note.created',
      { name, retry: { backoff: () => 1_000 }, independent: name === 'four' && (options.independent ?? false) },
      ({ id }, { tx }) => {
        order.push(name)
        write(tx, `${name} ${id}`)
        if (name === 'three' && state.isBroken) throw new Error('three is broken')
      },
    )
  }
  return { ...opened, state, order }
}

test('the third fails: the first two are done, the fourth waits; the retry runs three, then four', async () => {
  const { handle, clock, store, transport, effects, state, order, eventsOf } = openFour()
  await handle(note('m1'))
  expect(effects()).toEqual({ 'one m1': 1, 'two m1': 1 })
  expect(transport.settled()).toHaveLength(1)
  expect(await store.parking.list()).toMatchObject([
    { handler: 'three', key: 'm1', state: 'waiting', attempts: 1, reason: 'HANDLER_FAILED' },
    { handler: 'four', key: 'm1', state: 'waiting', attempts: 0, reason: 'WAITS_FOR_EARLIER_HANDLER', errors: '[]' },
  ])
  expect(eventsOf('parked').map(({ handler, reason }) => `${handler} ${reason}`)).toEqual([
    'three HANDLER_FAILED',
    'four WAITS_FOR_EARLIER_HANDLER',
  ])

  // It does not pass by, however long the third takes.
  await clock.advance(3_000)
  expect(effects()).toEqual({ 'one m1': 1, 'two m1': 1 })
  state.isBroken = false
  order.length = 0
  await clock.advance(5_000)
  expect(order).toEqual(['three', 'four'])
  expect(effects()).toEqual({ 'one m1': 1, 'two m1': 1, 'three m1': 1, 'four m1': 1 })
  expect(await countParked(store)).toBe(0)
})

test('a copy that comes meanwhile runs nothing', async () => {
  const { handle, clock, effects, order, store } = openFour()
  await handle(note('m1'))
  await clock.advance(500)
  order.length = 0
  await handle(note('m1'))
  expect(order).toEqual([])
  expect(effects()).toEqual({ 'one m1': 1, 'two m1': 1 })
  expect(await countParked(store)).toBe(2)
})

test('an independent handler does not wait', async () => {
  const { handle, effects } = openFour({ independent: true })
  await handle(note('m1'))
  expect(effects()).toEqual({ 'one m1': 1, 'two m1': 1, 'four m1': 1 })
})

test('a dead third keeps the fourth waiting', async () => {
  const { handle, clock, store, effects } = openFour()
  await handle(note('m1'))
  await clock.advance(60_000)
  expect(await store.parking.list()).toMatchObject([
    { handler: 'three', state: 'dead', attempts: 5 },
    { handler: 'four', state: 'waiting', attempts: 0 },
  ])
  expect(effects()).toEqual({ 'one m1': 1, 'two m1': 1 })
})

test("transaction: 'own' keeps a message apart, and does the same in every other way", async () => {
  const { app, transport, quiet, store, effects, clock } = openApp()
  let transactions = 0
  let isBroken = true
  const { transaction } = store
  store.transaction = (work, options) => {
    transactions++
    return transaction(work, options)
  }
  app.on('note.created', 'first', ({ id }, { tx }) => write(tx, `first ${id}`))
  app.on('note.created', { name: 'own', transaction: 'own', retry: { backoff: () => 1_000 } }, ({ id }, { tx }) => {
    write(tx, `own ${id}`)
    if (id === 'm2' && isBroken) throw new Error('not yet')
  })
  await app.start()
  await clock.advance(0)
  transactions = 0
  transport.send([note('m1'), note('m2'), note('m3')])
  await quiet()
  expect(effects()).toEqual({ 'first m1': 1, 'own m1': 1, 'first m2': 1, 'first m3': 1, 'own m3': 1 })
  // One for each handler of each message, and one more to park the failure.
  expect(transactions).toBe(7)
  isBroken = false
  await clock.advance(5_000)
  expect(effects()).toMatchObject({ 'own m2': 1 })
  transport.send([note('m1'), note('m2'), note('m3')])
  await quiet()
  expect(Object.values(effects())).toEqual([1, 1, 1, 1, 1, 1])
})

test('a batch handler gets what is there, and on failure it is split until the culprit stands alone', async () => {
  const { app, handle, effects, store, transport } = openApp()
  const calls: string[][] = []
  app.onBatch('note.created', { name: 'count', ...later }, (messages, { tx }) => {
    const ids = messages.map(({ id }) => id)
    calls.push(ids)
    for (const id of ids) write(tx, id)
    if (ids.includes('poison')) throw new Error('poison')
  })
  await handle(...['m1', 'm2', 'poison', 'm3', 'm4'].map((id) => note(id)))
  expect(calls).toEqual([
    ['m1', 'm2', 'poison', 'm3', 'm4'],
    ['m1', 'm2', 'poison', 'm3', 'm4'],
    ['m1', 'm2', 'poison'],
    ['m1', 'm2'],
    ['poison'],
    ['m3', 'm4'],
    // In a transaction of its own: until then it may have failed because of the others.
    ['poison'],
  ])
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1, m4: 1 })
  // Only alone does it count as an attempt.
  expect(await store.parking.list()).toMatchObject([{ key: 'poison', attempts: 1, state: 'waiting' }])
  expect(transport.settled()).toHaveLength(5)
})

test('a batch handler that publishes and has hooks does so once for the call that counted', async () => {
  const { app, handle, quiet, transport } = openApp()
  const hooks: number[] = []
  app.onBatch('note.created', { name: 'count', ...later }, async (messages, { publish, afterCommit }) => {
    await publish('note.counted', messages.length)
    afterCommit(() => void hooks.push(messages.length))
    if (messages.some(({ id }) => id === 'poison')) throw new Error('poison')
  })
  const counted: unknown[] = []
  app.on('note.counted', 'sum', ({ body }) => void counted.push(body))
  await handle(...['m1', 'm2', 'poison'].map((id) => note(id)))
  await quiet()
  expect(hooks).toEqual([2])
  expect(counted).toEqual([2])
  expect(transport.settled()).toHaveLength(4)
})
