import { expect, test } from 'vitest'
import { note, write } from '../../../test/app/open-app.ts'
import { openEngine } from '../../../test/app/open-engine.ts'
import type { Message, StoredParkedMessage } from '../../contracts/index.ts'
import { readErrorNotes } from '../../encoding/error-notes.ts'
import { unpackOutgoing } from '../../encoding/packed-message.ts'
import { countParked } from '../../operations/index.ts'
import { MemoryDatabase, memoryStore } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { overriding } from '../../testing/overriding.ts'
import { recordOf } from '../../testing/sample-records.ts'
import { abandonLetters } from './abandon-letters.ts'
import { type Reservation, reservedForMs } from './reservation.ts'
import { reserveBehind, reserveDue, retryMessages } from './retry-due.ts'

const soon = { retry: { attempts: 3, backoff: () => 1_000 } } as const

/** An engine with one message that has failed once. */
async function withOneParked(options: Parameters<typeof openEngine>[0] = {}) {
  const opened = openEngine(options)
  const state = { isBroken: true, runs: 0 }
  opened.on(
    'note.created',
    { name: 'tag-note', keepResult: true, ...soon },
    async ({ id }, { tx, publish, afterCommit }) => {
      state.runs++
      write(tx, id)
      await publish('note.tagged', { id }, { id: `tagged ${id}` })
      afterCommit(() => void hooks.push(id))
      if (state.isBroken) throw new Error(`attempt ${state.runs}`)
      return { tagged: id }
    },
  )
  const hooks: string[] = []
  await opened.handle(note('m1'))
  return { ...opened, state, hooks }
}

test('nothing is due: nothing happens', async () => {
  const { retry, state } = await withOneParked()
  expect(await retry()).toBe(false)
  expect(state.runs).toBe(1)
})

test('when it is due and succeeds, its row is gone, its record is processed, and it counts as any other', async () => {
  const { retry, clock, state, store, effects, hooks, wakings, eventsOf, published } = await withOneParked()
  await clock.advance(1_000)
  state.isBroken = false
  expect(await retry()).toBe(true)
  expect(effects()).toEqual({ m1: 1 })
  expect(await countParked(store)).toBe(0)
  expect(await recordOf(store, { handler: 'tag-note', key: 'm1' })).toMatchObject({
    state: 'processed',
    result: '{"tagged":"m1"}',
  })
  expect(await published()).toEqual(['tagged m1'])
  expect(hooks).toEqual(['m1'])
  expect(wakings()).toBe(1)
  expect(eventsOf('processed')).toEqual([
    { kind: 'processed', handler: 'tag-note', key: 'm1', type: 'note.created', attempt: 2 },
  ])
  expect(await retry()).toBe(false)
})

test('when it fails again that is counted and noted; after its attempts it is dead, and not taken again', async () => {
  const { retry, clock, store, effects, eventsOf, published } = await withOneParked()
  await clock.advance(1_000)
  expect(await retry()).toBe(true)
  const [waiting] = await store.parking.list()
  expect(waiting).toMatchObject({ state: 'waiting', attempts: 2, reason: 'HANDLER_FAILED' })
  expect(readErrorNotes(waiting?.errors ?? '').map(({ message }) => message.split('\n')[0])).toEqual([
    'Error: attempt 1',
    'Error: attempt 2',
  ])
  await clock.advance(1_000)
  expect(await retry()).toBe(true)
  expect(await store.parking.list()).toMatchObject([{ state: 'dead', attempts: 3 }])
  await clock.advance(3_600_000)
  expect(await retry()).toBe(false)
  expect(effects()).toEqual({})
  expect(await published()).toEqual([])
  expect(eventsOf('parked').map(({ state, attempts }) => `${state} ${attempts}`)).toEqual([
    'waiting 1',
    'waiting 2',
    'dead 3',
  ])
})

/** Every attempt meets a conflict at its last statement, as often as it is said. */
function withConflicts(
  { engine, store }: Pick<Awaited<ReturnType<typeof withOneParked>>, 'engine' | 'store'>,
  times: number,
) {
  const conflict = new Error('deadlock')
  let left = times
  const inbox: typeof store.inbox = {
    ...store.inbox,
    async update(tx, changes) {
      if (left-- > 0) throw conflict
      await store.inbox.update(tx, changes)
    },
  }
  const classify: typeof store.classify = (error) => (error === conflict ? 'conflict' : store.classify(error))
  Object.assign(engine, { store: { ...store, inbox, classify } })
}

test('a conflict is not counted: it is tried again a little later', async () => {
  const opened = await withOneParked()
  const { retry, clock, store, state, effects } = opened
  withConflicts(opened, 4)
  state.isBroken = false
  await clock.advance(1_000)
  const retried = retry()
  await clock.advance(10_000)
  expect(await retried).toBe(true)
  expect(state.runs).toBe(1 + 5)
  expect(await countParked(store)).toBe(0)
  expect(effects()).toEqual({ m1: 1 })
})

test('conflicts that do not end are a failed attempt in the end: others must have their turn', async () => {
  const opened = await withOneParked()
  const { retry, clock, store, state, engine, effects } = opened
  withConflicts(opened, Number.POSITIVE_INFINITY)
  state.isBroken = false
  await clock.advance(1_000)
  const retried = retry()
  await clock.advance(10_000)
  expect(await retried).toBe(true)
  // Once together with whatever else is due, then by itself.
  expect(state.runs).toBe(1 + 1 + engine.timing.conflictsPerAttempt)
  expect(await store.parking.list()).toMatchObject([{ state: 'waiting', attempts: 2 }])
  expect(effects()).toEqual({})
})

test('a message of another type than its handler takes is left alone: another app may have a handler of that name', async () => {
  const { clock, database, store } = await withOneParked()
  const renamed = openEngine({ clock, database })
  renamed.on('note.changed', { name: 'tag-note', ...soon }, ({ id }, { tx }) => write(tx, id))
  const before = await store.parking.list()
  await clock.advance(1_000)
  expect(await renamed.retry()).toBe(false)
  expect(await store.parking.list()).toEqual(before)
})

test('a handler under its new name takes what was parked under its old one', async () => {
  const { clock, database, store, effects } = await withOneParked()
  const renamed = openEngine({ clock, database })
  renamed.on('note.created', { name: 'label-note', formerly: ['tag-note'], ...soon }, ({ id }, { tx }) => write(tx, id))
  await clock.advance(1_000)
  expect(await renamed.retry()).toBe(true)
  expect(await countParked(store)).toBe(0)
  expect(effects()).toEqual({ m1: 1 })
  await renamed.handle(note('m1'))
  expect(effects()).toEqual({ m1: 1 })
})

test('an at-most-once handler is recorded first also when it comes from a parked row: a failure does not run it again', async () => {
  const { on, handle, retry, clock, store, eventsOf } = openEngine()
  let runs = 0
  let accepts = false
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => {
        if (!accepts) throw new Error('not reachable')
        return { value }
      },
    },
  } as const
  on('note.created', { name: 'ping', delivery: 'at-most-once', schema, ...soon }, () => {
    runs++
    throw new Error('after the record')
  })
  await handle(note('m1'))
  expect(await store.parking.list()).toMatchObject([{ state: 'waiting', reason: 'BODY_CHECK_FAILED' }])
  accepts = true
  await clock.advance(1_000)
  expect(await retry()).toBe(true)
  await clock.advance(3_600_000)
  expect(await retry()).toBe(false)
  expect(runs).toBe(1)
  expect(eventsOf('at-most-once-failed')).toMatchObject([{ handler: 'ping', key: 'm1' }])
})

/** A store that refuses some of its own statements, whatever the message, until the test lets it work. */
function refusingStore(of: 'records' | 'outgoing messages') {
  const state = { refuses: false }
  const refuse = () => {
    if (state.refuses) throw new Error('somebody has put a trigger on the table')
  }
  const clock = fakeClock()
  const store = memoryStore({ database: new MemoryDatabase({ clock }) })
  const { inbox, queue } = store
  const refusing = overriding(store, {
    inbox: overriding(inbox, {
      async update(tx, changes) {
        if (of === 'records') refuse()
        await inbox.update(tx, changes)
      },
    }),
    queue: overriding(queue, {
      async send(tx, name, messages) {
        if (of === 'outgoing messages') refuse()
        await queue.send(tx, name, messages)
      },
    }),
  })
  return { refusing, clock, state }
}

test.for(['records', 'outgoing messages'] as const)(
  'while the store refuses all %s that is no failure of the message: it is held, and goes on when it can',
  async (of) => {
    const { refusing, clock, state } = refusingStore(of)
    const { retry, store, on, handle, eventsOf } = openEngine({ store: refusing, clock })
    let isBroken = true
    on('note.created', { name: 'tag-note', retry: { attempts: 2, backoff: () => 0 } }, async ({ id }, { publish }) => {
      await publish('note.tagged', { id })
      if (isBroken) throw new Error('no')
    })
    await handle(note('m1'))
    isBroken = false
    state.refuses = true
    for (let times = 0; times < 3; times++) {
      expect(await retry()).toBe(true)
      expect(await store.parking.list()).toMatchObject([{ state: 'waiting', attempts: 1 }])
      await clock.advance(10_000)
    }
    expect(eventsOf('stuck')).toHaveLength(3)
    state.refuses = false
    await retry()
    expect(await countParked(store)).toBe(0)
    expect(eventsOf('processed')).toMatchObject([{ key: 'm1' }])
  },
)

test('what the store refuses of one message alone is the failure of that message', async () => {
  const store = memoryStore()
  const { queue } = store
  const refusing = overriding(store, {
    queue: overriding(queue, {
      async send(tx, name, messages) {
        if (messages.some(({ message }) => unpackOutgoing(message).id === 'too large')) throw new Error('too large')
        await queue.send(tx, name, messages)
      },
    }),
  })
  const { on, handle, published } = openEngine({ store: refusing })
  on('note.created', { name: 'tag-note', ...soon }, ({ id }, { publish }) =>
    publish('note.tagged', { id }, { id: id === 'm1' ? 'too large' : `tagged ${id}` }),
  )
  await handle(note('m1'), note('m2'))
  expect(await store.parking.list()).toMatchObject([{ key: 'm1', attempts: 1, reason: 'HANDLER_FAILED' }])
  expect(await published()).toEqual(['tagged m2'])
})

test('what has waited for its time and still stands behind another of its key is not taken for processed', async () => {
  const { engine, feed, on, handle, clock, store, effects } = openEngine()
  const born = { name: 'sent', of: ({ sentAt }: Message) => sentAt }
  let isBroken = true
  on('note.created', { name: 'tag-note', ordered: { by: 'key' }, born, ...soon }, ({ id }, { tx }) => {
    if (isBroken) throw new Error('not yet')
    write(tx, id)
  })
  const tomorrow = new Date(clock.now().getTime() + 24 * 3_600_000)
  await handle({ ...note('m1'), key: 'k' }, { ...note('m2'), key: 'k', sentAt: tomorrow })
  expect(await store.parking.list()).toMatchObject([
    { messageId: 'm1' },
    { messageId: 'm2', reason: 'ID_FROM_THE_FUTURE' },
  ])
  isBroken = false
  await clock.advance(24 * 3_600_000)
  const [head] = (await reserveDue(engine, { limit: 1 })) as [Reservation]
  const behind = await reserveBehind(engine, head, { limit: 10 })
  expect(behind).toMatchObject([{ letter: { messageId: 'm2' } }])
  // Its turn comes so late that another process has the first one by then.
  await clock.advance(reservedForMs)
  const taken = await reserveDue(engine, { limit: 1 })
  await retryMessages(engine, feed, [head, ...behind])
  expect(effects()).toEqual({})
  expect(await recordOf(store, { handler: 'tag-note', key: 'm2' })).toBeUndefined()
  await retryMessages(engine, feed, taken)
  await clock.advance(reservedForMs)
  await retryMessages(engine, feed, await reserveDue(engine, { limit: 1 }))
  expect(effects()).toEqual({ m1: 1, m2: 1 })
})

test('what was given up before it could be claimed is claimed when it is redriven, and does not run beside a copy', async () => {
  const { engine, feed, on, handle, clock, store, effects } = openEngine()
  const born = { name: 'sent', of: ({ sentAt }: Message) => sentAt }
  on('note.created', { name: 'tag-note', born, ...soon }, ({ id }, { tx }) => write(tx, id))
  const tomorrow = new Date(clock.now().getTime() + 24 * 3_600_000)
  const message = { ...note('m1'), sentAt: tomorrow }
  await handle(message)
  await abandonLetters(engine, { handler: 'tag-note', type: 'note.created' }, new AbortController().signal)
  const [letter] = (await store.parking.list()) as [StoredParkedMessage]
  expect(letter).toMatchObject({ state: 'dead', reason: 'ID_FROM_THE_FUTURE' })
  expect(letter.errors).toContain('No running app has the handler tag-note for messages of type note.created.')
  await clock.advance(24 * 3_600_000)
  await handle(message)
  await store.transaction((tx) => store.parking.change(tx, [{ ...letter, kind: 'again', delayMs: 0 }]))
  await retryMessages(engine, feed, await reserveDue(engine, { limit: 1 }))
  expect(await countParked(store)).toBe(0)
  expect(effects()).toEqual({ m1: 1 })
})

test('a later attempt that fails is one transaction beside its reservation and its booking', async () => {
  const memory = memoryStore()
  const counts = { transactions: 0, reservations: 0, bookings: 0 }
  const store: typeof memory = {
    ...memory,
    transaction: (work, options) => {
      counts.transactions++
      return memory.transaction(work, options)
    },
    parking: {
      ...memory.parking,
      reserve: (options) => {
        counts.reservations++
        return memory.parking.reserve(options)
      },
      rebook: (bookings, forMs) => {
        counts.bookings++
        return memory.parking.rebook(bookings, forMs)
      },
    },
  }
  const { on, handle, retry, eventsOf } = openEngine({ store })
  on('note.created', { name: 'tag-note', retry: { attempts: 5, backoff: () => 0 } }, () => {
    throw new Error('no')
  })
  await handle(note('m1'))
  // The first attempt is not expected to fail: it is rolled back, and then parked.
  expect(counts.transactions).toBe(2)
  for (let attempt = 2; attempt <= 5; attempt++) await retry()
  expect(eventsOf('parked').map(({ attempts, state }) => [attempts, state])).toEqual([
    [1, 'waiting'],
    [2, 'waiting'],
    [3, 'waiting'],
    [4, 'waiting'],
    [5, 'dead'],
  ])
  expect(counts).toEqual({ transactions: 6, reservations: 4, bookings: 4 })
})
