import { expect, test } from 'vitest'
import { later, note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import { JustonceError } from '../../errors/index.ts'
import { countParked } from '../../operations/index.ts'
import { MemoryDatabase, type MemoryStore, memoryStore } from '../../stores/memory/index.ts'
import { recordOf } from '../../testing/sample-records.ts'
import { toIncoming } from '../../transports/memory/message-to-send.ts'
import { handleDeliveries } from './handle-deliveries.ts'

const ids = (deliveries: readonly { readonly message: { readonly id?: string | undefined } }[]) =>
  deliveries.map(({ message }) => message.id)

test('a copy in the same batch waits for the next one, behind what was not begun', async () => {
  const { on, handle, effects, clock, acknowledged } = openEngine({ batch: { budgetMs: 10 } })
  on('note.created', 'tag-note', async ({ id }, { tx }) => {
    write(tx, id)
    await clock.advance(30)
  })
  const first = await handle(note('m1'), note('m1'), note('m2'), note('m3'), note('m3', { body: 'other' }))
  expect(acknowledged()).toEqual(['m1', 'm2'])
  expect(ids(first.again)).toEqual(['m3', 'm1', 'm3'])
  expect(effects()).toEqual({ m1: 1, m2: 1 })
})

test('a batch that overruns gives back what it has not begun, claims included', async () => {
  const { on, handle, effects, clock, store, acknowledged } = openEngine({ batch: { budgetMs: 10 } })
  on('note.created', { name: 'tag-note', formerly: ['label-note'] }, async ({ id }, { tx }) => {
    write(tx, id)
    await clock.advance(25)
  })
  const report = await handle(note('m1'), note('m2'), note('m3'), note('m4'))
  expect(acknowledged()).toEqual(['m1', 'm2'])
  expect(ids(report.again)).toEqual(['m3', 'm4'])
  expect(await recordOf(store, { handler: 'tag-note', key: 'm2' })).toMatchObject({ state: 'processed' })
  for (const handler of ['tag-note', 'label-note']) {
    expect(await recordOf(store, { handler, key: 'm3' })).toBeUndefined()
  }
  await handle(note('m3'), note('m4'))
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1, m4: 1 })
})

test('of a message with two handlers the first may be done and the second given back; then only that one runs', async () => {
  const { on, handle, effects, clock, acknowledged } = openEngine({ batch: { budgetMs: 10 } })
  on('note.created', 'first', async ({ id }, { tx }) => {
    write(tx, `first ${id}`)
    if (id === 'm2') await clock.advance(50)
  })
  on('note.created', 'second', ({ id }, { tx }) => write(tx, `second ${id}`))
  const report = await handle(note('m1'), note('m2'))
  expect(effects()).toEqual({ 'first m1': 1, 'second m1': 1, 'first m2': 1 })
  expect([acknowledged(), ids(report.again)]).toEqual([['m1'], ['m2']])
  await handle(note('m2'))
  expect(effects()).toEqual({ 'first m1': 1, 'second m1': 1, 'first m2': 1, 'second m2': 1 })
})

test('however long the claim takes, something is begun', async () => {
  const opened = openEngine({ batch: { budgetMs: 10 } })
  const { on, handle, engine, store, clock, acknowledged } = opened
  const slow: typeof store.inbox = {
    ...store.inbox,
    async claim(tx, requests) {
      await clock.advance(10_000)
      return store.inbox.claim(tx, requests)
    },
  }
  Object.assign(engine, { store: { ...store, inbox: slow } })
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  const report = await handle(note('m1'), note('m2'))
  expect(report.again).toEqual([])
  expect(acknowledged()).toEqual(['m1', 'm2'])
})

test('what is handled alone keeps its place among the messages of its key', async () => {
  const { on, handle } = openEngine()
  const order: string[] = []
  on('order.placed', { name: 'charge', transaction: 'own' }, ({ id }) => void order.push(id))
  on('order.changed', 'note', ({ id }) => void order.push(id))
  await handle(
    { id: 'placed', type: 'order.placed', key: 'k' },
    { id: 'changed', type: 'order.changed', key: 'k' },
    { id: 'other', type: 'order.changed', key: 'z' },
  )
  expect(order.filter((id) => id !== 'other')).toEqual(['placed', 'changed'])
})

test('behind a message that a rival holds, the rest of its lane waits, whatever its key', async () => {
  const opened = openEngine()
  const { on, engine, feed, store, clock, effects, acknowledged } = opened
  const claim: typeof store.inbox.claim = async (tx, requests) => {
    if (requests.some(({ key }) => key === 'm1')) throw new JustonceError('STORE_BUSY', { message: 'A rival has it.' })
    return store.inbox.claim(tx, requests)
  }
  Object.assign(engine, { store: { ...store, inbox: { ...store.inbox, claim } } })
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  const inLane = (lane: string, id: string, key?: string) => ({
    lane,
    message: toIncoming(note(id, key === undefined ? {} : { key }), 'test'),
  })
  const handling = handleDeliveries(engine, feed, [
    inLane('notes/0', 'm1'),
    inLane('notes/0', 'm2'),
    inLane('notes/1', 'n1', 'k'),
    inLane('notes/0', 'm3', 'k'),
  ])
  await clock.advance(60_000)
  const { held } = await handling
  expect(ids(held)).toEqual(['m1', 'm2', 'm3'])
  expect([effects(), acknowledged()]).toEqual([{ n1: 1 }, ['n1']])
})

test('what has failed beside others does not get before one of its key that the batch has left', async () => {
  const { on, handle, acknowledged } = openEngine()
  const calls: Record<string, number> = {}
  // First another key, so that the batch runs in parts; then the last of a part, and when that part runs again its first.
  const failing = new Set(['a1 1', 'b3 1', 'b1 2'])
  const order: string[] = []
  on('note.created', { name: 'tag-note', ordered: { by: 'key' }, ...later }, ({ id }, { afterCommit }) => {
    calls[id] = (calls[id] ?? 0) + 1
    if (failing.has(`${id} ${calls[id]}`)) throw new Error('not now')
    afterCommit(() => order.push(id))
  })
  const keyed = (...all: string[]) => all.map((id) => note(id, { key: id[0] as string }))
  const others = Array.from({ length: 30 }, (_, index) => note(`c${index}`))
  const report = await handle(...keyed('a1', 'b1', 'b2', 'b3', 'b4'), ...others)
  expect(ids(report.again)).toEqual(expect.arrayContaining(['b2', 'b3', 'b4']))
  expect(acknowledged()).not.toContain('b3')
  await handle(...keyed('b2', 'b3', 'b4'))
  expect(order.filter((id) => id.startsWith('b'))).toEqual(['b1', 'b2', 'b3', 'b4'])
})

test('behind a parked message, too, nothing is parked before one of its key that the batch has left', async () => {
  const { on, handle, store } = openEngine()
  const failing = new Set(['a1', 'b2'])
  on('note.created', { name: 'check-note', ...later }, ({ id }) => {
    if (failing.delete(id)) throw new Error('not now')
  })
  on('note.created', { name: 'tag-note', ordered: { by: 'key' }, ...later }, ({ id }) => {
    if (id === 'b0') throw new Error('not yet')
  })
  const keyed = (...all: string[]) => all.map((id) => note(id, { key: id[0] as string }))
  const others = Array.from({ length: 30 }, (_, index) => note(`c${index}`))
  await handle(...keyed('b0'))
  // The first of another key fails, so that the batch runs in parts; then the earlier handler of b2 does, beside others.
  const report = await handle(...keyed('a1', 'b1', 'b2', 'b3'), ...others)
  expect(ids(report.again)).toEqual(['b3'])
  await handle(...keyed('b3'))
  const parked = await store.parking.list({ handler: 'tag-note', orderKey: 'b' })
  expect(parked.map(({ key }) => key)).toEqual(['b0', 'b1', 'b2', 'b3'])
})

test('a handler that throws nothing at all has failed once, and did not run twice', async () => {
  const { on, handle, store, eventsOf } = openEngine()
  let runs = 0
  on('note.created', { name: 'tag-note', ...later }, () => {
    runs++
    throw undefined
  })
  await handle(note('m1'))
  expect(runs).toBe(1)
  expect(await store.parking.list()).toMatchObject([{ state: 'waiting', attempts: 1, reason: 'HANDLER_FAILED' }])
  expect(eventsOf('rolled-back').map(({ reason }) => reason)).toEqual(['failure'])
})

test('what is parked without a claim does not get before a message of its key that the batch has left', async () => {
  for (const [made, reason] of [
    ['2029-11-01', 'TOO_OLD_TO_KNOW'],
    ['2030-02-01', 'ID_FROM_THE_FUTURE'],
  ] as const) {
    const { on, handle, effects, clock, store } = openEngine({ batch: { budgetMs: 10 } })
    await store.retention.raise(30 * 86_400_000)
    const born = { name: 'made', of: ({ id }: { id: string }) => new Date(id === 'm3' ? made : '2030-01-01') }
    on('note.created', { name: 'tag-note', ordered: { by: 'key' }, born }, async ({ id }, { tx }) => {
      await clock.advance(50)
      write(tx, id)
    })
    const notes = ['m1', 'm2', 'm3'].map((id) => ({ ...note(id), key: 'k' }))
    const report = await handle(...notes)
    expect([effects(), ids(report.again)]).toEqual([{ m1: 1 }, ['m2', 'm3']])
    expect(await countParked(store)).toBe(0)
    await handle(...notes.slice(1, 2))
    await handle(...notes.slice(2))
    expect(effects()).toEqual({ m1: 1, m2: 1 })
    expect((await store.parking.list()).map((row) => [row.messageId, row.reason])).toEqual([['m3', reason]])
  }
})

test('a handler that changes its message does not meet its changes when it runs again', async () => {
  const { on, handle, effects } = openEngine()
  on('note.created', { name: 'count', ...later }, ({ id, body }, { tx }) => {
    const counted = body as { amount: number }
    counted.amount += 1
    tx.set(id, counted.amount)
    if (id === 'poison') throw new Error('poison')
  })
  // Run together, rolled back because of the neighbour, and run again in parts.
  await handle(note('m1', { body: { amount: 5 } }), note('poison', { body: { amount: 0 } }))
  expect(effects()).toEqual({ m1: 6 })
})

test('nor does the next handler of the message', async () => {
  const { on, handle, effects } = openEngine()
  on('note.created', 'first', ({ body }) => {
    ;(body as { amount: number }).amount = 0
  })
  on('note.created', 'second', ({ id, body }, { tx }) => tx.set(id, (body as { amount: number }).amount))
  await handle(note('m1', { body: { amount: 5 } }))
  expect(effects()).toEqual({ m1: 5 })
})

test('a commit whose answer was lost: the engine claims again, acknowledges, and runs nothing twice', async () => {
  const opened = openEngine()
  const { on, handle, engine, store, effects, acknowledged, eventsOf } = opened
  let lost = 1
  const transaction: typeof store.transaction = async (work, options) => {
    const value = await store.transaction(work, options)
    if (lost-- > 0) throw new JustonceError('COMMIT_UNKNOWN', { message: 'The connection is gone.' })
    return value
  }
  Object.assign(engine, { store: { ...store, transaction } })
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'), note('m2'))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(acknowledged()).toEqual(['m1', 'm2'])
  expect(eventsOf('rolled-back').map(({ reason }) => reason)).toEqual(['commit-unknown'])
})

test('a conflict: the batch is rolled back and each message runs alone, at once', async () => {
  const opened = openEngine()
  const { on, handle, engine, store, effects, acknowledged } = opened
  const conflict = new Error('deadlock')
  let conflicts = 1
  const transaction: typeof store.transaction = (work, options) =>
    store.transaction(async (tx) => {
      const value = await work(tx)
      if (conflicts-- > 0) throw conflict
      return value
    }, options)
  const classify: typeof store.classify = (error) => (error === conflict ? 'conflict' : store.classify(error))
  Object.assign(engine, { store: { ...store, transaction, classify } })
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  const report = await handle(note('m1'), note('m2'), note('m3'))
  expect(effects()).toEqual({ m1: 1, m2: 1, m3: 1 })
  expect(acknowledged()).toEqual(['m1', 'm2', 'm3'])
  expect(report.conflicts).toBe(1)
})

test('alone, too, a message does not get before one of its key that a breaker has stopped', async () => {
  const { on, handle, effects, engine, store } = openEngine()
  on('note.created', { name: 'tag-note', ordered: { by: 'key' } }, ({ id }, { tx }) => write(tx, id))
  const conflict = new Error('deadlock')
  let isAlone = false
  const transaction: typeof store.transaction = (work, options) =>
    store.transaction(async (tx) => {
      const value = await work(tx)
      if (isAlone) return value
      isAlone = true
      throw conflict
    }, options)
  const classify: typeof store.classify = (error) => (error === conflict ? 'conflict' : store.classify(error))
  // Open when the first comes alone; its pause is over when the second does.
  const admits = (_: unknown, key: string): boolean => !(isAlone && key === 'm1')
  Object.assign(engine, { store: { ...store, transaction, classify } })
  Object.assign(engine.breakers, { admits })
  const report = await handle(...['m1', 'm2'].map((id) => ({ ...note(id), key: 'k' })))
  expect([effects(), ids(report.again)]).toEqual([{}, ['m1', 'm2']])
})

test('a large batch that collides runs together once more, and then each message alone', async () => {
  const conflict = new Error('deadlock')
  const transactionsOf = async (conflicts: number) => {
    const { on, handle, engine, store, effects } = openEngine()
    let transactions = 0
    const transaction: typeof store.transaction = (work, options) =>
      store.transaction(async (tx) => {
        const value = await work(tx)
        if (transactions++ < conflicts) throw conflict
        return value
      }, options)
    const classify: typeof store.classify = (error) => (error === conflict ? 'conflict' : store.classify(error))
    Object.assign(engine, { store: { ...store, transaction, classify } })
    on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
    const report = await handle(...Array.from({ length: 16 }, (_, i) => note(`m${i}`)))
    expect(Object.values(effects())).toEqual(Array(16).fill(1))
    expect(report.conflicts).toBe(conflicts)
    return transactions
  }
  expect(await transactionsOf(1)).toBe(2)
  expect(await transactionsOf(2)).toBe(2 + 16)
})

test('conflicts that do not end are a failed attempt in the end, and others are not held up', async () => {
  const opened = openEngine()
  const { on, handle, engine, store, clock, effects } = opened
  const conflict = new Error('deadlock')
  const classify: typeof store.classify = (error) => (error === conflict ? 'conflict' : store.classify(error))
  const lend: typeof store.lend = (tx, options) => {
    const loan = store.lend(tx, options)
    return { ...loan, end: () => ({ ...loan.end(), trouble: options.borrower === 'tag-note' ? 'conflict' : 'none' }) }
  }
  Object.assign(engine, { store: { ...store, classify, lend } })
  let runs = 0
  on('note.created', { name: 'tag-note', ...later }, () => {
    runs++
    throw conflict
  })
  on('note.changed', 'count', ({ id }, { tx }) => write(tx, id))
  const handled = handle(note('m1'), note('m2', { type: 'note.changed' }))
  await clock.advance(10_000)
  await handled
  expect(effects()).toEqual({ m2: 1 })
  // Once with the others.
  expect(runs).toBe(1 + engine.timing.conflictsPerAttempt)
  expect(await store.parking.list()).toMatchObject([{ key: 'm1', state: 'waiting', attempts: 1 }])
})

test('where parts of a transaction cannot be rolled back, what failed runs alone, and the rest together', async () => {
  const opened = openEngine()
  const { on, handle, engine, store, effects, acknowledged } = opened
  const { parts: _, ...withoutParts } = store
  Object.assign(engine, { store: withoutParts })
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => {
    write(tx, id)
    if (id === 'poison') throw new Error('poison')
  })
  await handle(note('m1'), note('poison'), note('m2'))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
  expect(acknowledged()).toEqual(['poison', 'm1', 'm2'])
})

test('a store that cannot cut a handler off runs one message to a transaction', async () => {
  const opened = openEngine()
  const { on, handle, engine, store } = opened
  let transactions = 0
  const transaction: typeof store.transaction = (work, options) => {
    transactions++
    return store.transaction(work, options)
  }
  Object.assign(engine, { store: { ...store, transaction, capabilities: { revocable: false, connections: 1 } } })
  on('note.created', 'tag-note', ({ id }, { tx }) => write(tx, id))
  await handle(note('m1'), note('m2'), note('m3'))
  expect(transactions).toBe(3)
})

test('publishing where nothing can be kept is a failure, not a message that nobody ever sees', async () => {
  const { queue: _, ...withoutQueue } = memoryStore()
  const { on, handle, store } = openEngine({ store: withoutQueue as MemoryStore })
  on('note.created', { name: 'tag-note', ...later }, (_message, { publish }) => publish('note.tagged', {}))
  await handle(note('m1'))
  const [parked] = await store.parking.list()
  expect(parked).toMatchObject({ key: 'm1', state: 'waiting', reason: 'STORE_CANNOT' })
  expect(parked?.errors).toContain('memory has no queue to keep published messages in')
})

test('a message that cannot be kept is not the fault of the one that was handled beside it', async () => {
  const opened = openEngine()
  const { on, handle, engine, store, effects, clock, eventsOf } = opened
  const refused = new Error('invalid byte sequence')
  const parking: typeof store.parking = {
    ...store.parking,
    async park(tx, messages) {
      if (messages.some(({ type }) => type === 'nobody.knows')) throw refused
      return store.parking.park(tx, messages)
    },
  }
  Object.assign(engine, { store: { ...store, parking } })
  on('note.created', { name: 'tag-note', ...later }, ({ id }, { tx }) => write(tx, id))
  const handled = handle(note('m1'), { ...note('m2'), type: 'nobody.knows' })
  await clock.advance(60_000)
  const report = await handled
  expect(effects()).toEqual({ m1: 1 })
  expect(await countParked(store)).toBe(0)
  expect(ids(report.held)).toEqual(['m2'])
  expect(eventsOf('stuck')).toMatchObject([{ messageId: 'm2', error: refused, pauseMs: 1_000 }])
})

test('what cannot be parked for its first handler is kept as a dead letter, once, and acknowledged', async () => {
  const database = new MemoryDatabase()
  const memory = memoryStore({ database })
  const park: typeof memory.parking.park = async (tx, rows) => {
    if (rows.some(({ handler }) => handler === 'first')) throw new Error('this row is refused')
    await memory.parking.park(tx, rows)
  }
  const { engine, feed, on, eventsOf, acknowledged, store } = openEngine({
    database,
    store: { ...memory, parking: { ...memory.parking, park } },
  })
  const called: string[] = []
  on('note.created', { name: 'first', ...later }, () => {
    called.push('first')
    throw new Error('no')
  })
  on('note.created', 'second', () => void called.push('second'))
  const delivery = { message: toIncoming(note('m1'), 'test') }
  for (let round = 0; round < 3; round++) await handleDeliveries(engine, feed, [delivery])
  expect(eventsOf('stuck')).toHaveLength(2)
  expect(eventsOf('parked').map(({ reason }) => reason)).toEqual(['MESSAGE_NOT_KEPT'])
  expect(acknowledged()).toEqual(['m1'])
  expect(called).toEqual(['first', 'first', 'first'])
  expect(await countParked(store)).toBe(1)
})
