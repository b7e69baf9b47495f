import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { DidNotHappen, isDidNotHappen, isJustonceError, JustonceError, PermanentError } from '../errors/index.ts'
import { reservationFact } from '../facts/index.ts'
import { sqliteStore } from '../stores/sqlite/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { coordinate, type Reservation } from './coordinate.ts'
import type { Participant, Step } from './participant.ts'
import { participantIn } from './participant-in.ts'
import { reservationEffect } from './reservation-effect.ts'

type Body = { readonly count: number }
type SqliteStore = ReturnType<typeof sqliteStore>

const opened: SqliteStore[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

describe('a reservation', () => {
  test('confirms all participants when all could set their part aside', async () => {
    const world = await openWorld()
    expect(await world.run()).toEqual({ outcome: 'confirmed' })
    expect(await world.counts()).toEqual({
      stock: { free: 7, held: 0, taken: 3 },
      credit: { free: 7, held: 0, taken: 3 },
    })
  })

  test('cancels all participants when one refuses', async () => {
    const world = await openWorld({ free: { stock: 10, credit: 2 } })
    expect(await world.run()).toEqual({ outcome: 'cancelled', why: 'credit: There is not enough credit.' })
    expect(await world.counts()).toEqual({
      stock: { free: 10, held: 0, taken: 0 },
      credit: { free: 2, held: 0, taken: 0 },
    })
  })

  test('goes on trying one that cannot be reached, and cancels when the time is up', async () => {
    const world = await openWorld({
      fault: ({ participant, step }) => (participant === 'credit' && step === 'try' ? 'before' : false),
    })
    await expect(world.run()).rejects.toThrow('unreachable')
    expect((await world.state())?.participants).toEqual({ stock: 'reserved', credit: 'trying' })
    expect(await world.run({ timeoutMs: 0 })).toEqual({ outcome: 'cancelled', why: 'Time is up. credit: unreachable' })
    expect(await world.counts()).toMatchObject({ stock: { free: 10, held: 0 }, credit: { free: 10, held: 0 } })
  })

  test('counts its time from the first try, however long it had to wait before', async () => {
    const world = await openWorld({ fault: ({ participant }) => (participant === 'credit' ? 'before' : false) })
    const before = Date.now()
    const { run } = reservationEffect(world, 'order', { participants: world.participants })
    const intent = { effect: 'order', key: 'k', payload: { count: 3 }, intendedAt: new Date(0) }
    const context = {
      idempotencyKey: 'r-1',
      attempt: 1,
      trace: {},
      signal: new AbortController().signal,
      assertInTime() {},
    }
    await expect(run(intent, context)).rejects.toThrow('try of credit failed: unreachable')
    const { triedSince } = await world.state()
    expect(triedSince).toBeGreaterThanOrEqual(before)
    await expect(run(intent, context)).rejects.toThrow('try of credit failed: unreachable')
    expect((await world.state()).triedSince).toBe(triedSince)
    await expect(world.run({ timeoutMs: 0 })).rejects.toThrow('cancel of credit failed: unreachable')
    expect(await world.state()).toMatchObject({ decision: 'cancel', why: 'Time is up. credit: unreachable' })
  })

  test.for(['try', 'confirm'] as const)('is not held up by a participant whose %s hangs', async (hanging) => {
    const world = await openWorld()
    const { stock, credit } = world.participants
    const others = Promise.withResolvers<void>()
    const watched: Participant<Body> = {
      ...stock,
      async [hanging](call: Parameters<Participant<Body>['try']>[0]) {
        await stock[hanging](call)
        // What has ended has been noticed before the time is up.
        setImmediate(others.resolve)
      },
    }
    const hangs = { ...credit, [hanging]: () => new Promise(() => {}) }
    const run = world.run({ participants: { stock: watched, credit: hangs }, timeoutMs: 0, callTimeoutMs: 50 })
    run.catch(() => {})
    await others.promise
    await world.clock.advance(50)
    if (hanging === 'confirm') {
      await expect(run).rejects.toThrow('confirm of credit failed: no answer within 50 ms')
      expect((await world.counts()).stock).toEqual({ free: 7, held: 0, taken: 3 })
    } else {
      const why = 'Time is up. credit: no answer within 50 ms'
      expect(await run).toEqual({ outcome: 'cancelled', why })
      expect((await world.counts()).stock).toEqual({ free: 10, held: 0, taken: 0 })
    }
  })

  test.for([
    ['nothing', undefined],
    ['an object that is no text', Object.create(null)],
    ['an error whose message is no text', Object.assign(new Error(), { message: 7 })],
    ['an error that cannot be read', unreadable()],
  ])('cancels when the time is up although a participant throws %s', async ([, thrown]) => {
    const world = await openWorld()
    const { stock, credit } = world.participants
    const throwing = {
      ...credit,
      try() {
        throw thrown
      },
    }
    const participants = { stock, credit: throwing }
    await expect(world.run({ participants })).rejects.toThrow('try of credit failed')
    expect(await world.run({ participants, timeoutMs: 0 })).toMatchObject({ outcome: 'cancelled' })
    expect((await world.counts()).stock).toEqual({ free: 10, held: 0, taken: 0 })
  })

  // An intent is given up for such errors, and then nobody would give back what the others have set aside.
  test.for([
    new DidNotHappen('not now'),
    new JustonceError('KEY_REUSED', { message: 'reused' }),
    new JustonceError('INTENT_TIMEOUT', { message: 'of a call inside' }),
  ])('is repeated whatever a participant throws: %s', async (thrown) => {
    const world = await openWorld()
    const fails = () => Promise.reject(thrown)
    for (const step of ['try', 'confirm'] as const) {
      const participants = { ...world.participants, credit: { ...world.participants.credit, [step]: fails } }
      const error = await world.run({ participants }).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(Error)
      expect(isDidNotHappen(error) || isJustonceError(error)).toBe(false)
    }
  })

  test('takes a call that did not happen, and that nobody should repeat, for a refusal', async () => {
    const world = await openWorld()
    const refuses = () => Promise.reject(new DidNotHappen('no such account', { permanent: true }))
    const participants = { ...world.participants, credit: { ...world.participants.credit, try: refuses } }
    expect(await world.run({ participants })).toEqual({ outcome: 'cancelled', why: 'credit: no such account' })
    expect((await world.counts()).stock).toEqual({ free: 10, held: 0, taken: 0 })
  })

  test('refuses a try that arrives after its cancel', async () => {
    const world = await openWorld()
    const call = world.callOf('stock', 'try')
    await world.participants.stock.cancel(call)
    await expect(world.participants.stock.try(call)).rejects.toThrow('stock was cancelled before it was tried.')
    expect((await world.counts()).stock).toEqual({ free: 10, held: 0, taken: 0 })
  })

  test('stays confirmed although the decision was lost with a restored backup and time is up', async () => {
    let isCut = false
    const world = await openWorld({
      fault: ({ participant, step }) =>
        isCut && participant === 'credit' && step === 'try'
          ? 'before'
          : !isCut && participant === 'credit' && step === 'confirm'
            ? 'before'
            : false,
    })
    await expect(world.run()).rejects.toThrow('confirm of credit failed')
    await world.forget()
    isCut = true
    expect(await world.run({ timeoutMs: 0 })).toEqual({ outcome: 'confirmed' })
    expect(await world.counts()).toMatchObject({ stock: { held: 0, taken: 3 }, credit: { held: 0, taken: 3 } })
  })

  test('stays cancelled although the decision was lost with a restored backup and there is enough by now', async () => {
    let isCut = true
    const world = await openWorld({
      fault: ({ participant, step }) => (isCut && participant === 'credit' && step === 'try' ? 'before' : false),
    })
    expect(await world.run({ timeoutMs: 0 })).toMatchObject({ outcome: 'cancelled' })
    await world.forget()
    isCut = false
    expect(await world.run()).toMatchObject({ outcome: 'cancelled' })
    expect(await world.counts()).toMatchObject({
      stock: { free: 10, held: 0, taken: 0 },
      credit: { free: 10, held: 0, taken: 0 },
    })
  })

  test('sets aside and takes at once what the database of a participant has lost', async () => {
    const world = await openWorld()
    await world.participants.stock.confirm(world.callOf('stock', 'confirm'))
    expect((await world.counts()).stock).toEqual({ free: 7, held: 0, taken: 3 })
    await expect(world.participants.stock.cancel(world.callOf('stock', 'cancel'))).rejects.toThrow(
      'stock was confirmed before, so it cannot be cancelled.',
    )
  })

  test.for(['', ' stock', 'a/b', 'nul\0', 'x'.repeat(101)])('refuses %j as the name of a participant', async (name) => {
    const { participants } = await openWorld()
    const site = { facts: opened[0]?.facts as never, clock: fakeClock() }
    const register = () => reservationEffect(site, 'order', { participants: { [name]: participants.stock } })
    expect(register).toThrow('has a participant')
  })

  test('is stored before anything is set aside for it', async () => {
    let isAway = true
    const world = await openWorld({ fault: ({ step }) => (isAway && step === 'write' ? 'before' : false) })
    await expect(world.run()).rejects.toThrow('unreachable')
    expect((await world.counts()).stock).toEqual({ free: 10, held: 0, taken: 0 })
    isAway = false
    const { stock } = world.participants
    const looking = {
      ...stock,
      try: async () => expect((await world.state()).participants).toEqual({ stock: 'trying' }),
    }
    expect(await world.run({ participants: { stock: looking } })).toEqual({ outcome: 'confirmed' })
    expect(await world.state()).toMatchObject({ id: 'r-1', key: 'o-1', participants: { stock: 'confirmed' } })
  })

  test('is not decided without a participant that another app has tried, and gives back what that one has set aside', async () => {
    const world = await openWorld({
      fault: ({ participant, step }) => (participant === 'stock' && step === 'try' ? 'before' : false),
    })
    const { stock, credit } = world.participants
    await expect(world.run()).rejects.toThrow('try of stock failed')
    expect((await world.counts()).credit).toEqual({ free: 7, held: 3, taken: 0 })
    // A deploy has removed one of the two.
    const run = () => world.run({ participants: { stock }, timeoutMs: 0 })
    await expect(run()).rejects.toThrow(
      'cancel of credit failed: The reservation order has no participant credit any more.',
    )
    expect(await world.run({ participants: { stock, credit } })).toMatchObject({ outcome: 'cancelled' })
    expect((await world.counts()).credit).toEqual({ free: 10, held: 0, taken: 0 })
  })

  test('is not ended by an app that has lost one of its participants', async () => {
    const world = await openWorld({ fault: ({ step }) => (step === 'confirm' ? 'before' : false) })
    await expect(world.run()).rejects.toThrow('confirm of stock failed: unreachable')
    const { stock } = world.participants
    await expect(world.run({ participants: { stock } })).rejects.toThrow('no participant credit any more')
  })

  test('keeps its decision although a process that was frozen wakes up and would decide otherwise', async () => {
    const frozen = Promise.withResolvers<void>()
    const isFrozen = Promise.withResolvers<void>()
    let calls = 0
    const world = await openWorld()
    const slow: Participant<Body> = {
      ...world.participants.credit,
      async try(call) {
        if (++calls > 1) return await world.participants.credit.try(call)
        isFrozen.resolve()
        await frozen.promise
        throw new PermanentError('refused too late')
      },
    }
    const participants = { stock: world.participants.stock, credit: slow }
    const first = world.run({ participants }).catch((error) => error.message)
    await isFrozen.promise
    expect(await world.run({ participants })).toEqual({ outcome: 'confirmed' })
    frozen.resolve()
    expect(await first).toMatch('Another process has taken over')
    expect(await world.counts()).toMatchObject({ stock: { held: 0, taken: 3 }, credit: { held: 0, taken: 3 } })
  })

  test('takes everything or nothing, wherever steps fail and however often they are repeated', async () => {
    const faults = fc.array(fc.constantFrom<Fault>(false, 'before', 'after'), { maxLength: 16 })
    const free = fc.record({ stock: fc.integer({ min: 0, max: 4 }), credit: fc.integer({ min: 0, max: 4 }) })
    await fc.assert(
      fc.asyncProperty(faults, free, fc.array(fc.boolean()), async (planned, free, late) => {
        const left = [...planned]
        const world = await openWorld({ free, fault: () => left.shift() ?? false })
        let result: { outcome: string } | undefined
        for (let i = 0; result === undefined; i++) {
          // A repeated call, and a zombie beside it, must not make a difference.
          const runs = await Promise.allSettled([world.run({ timeoutMs: late[i] ? 0 : 60_000 }), world.run()])
          for (const run of runs) if (run.status === 'fulfilled') result = run.value
        }
        const counts = Object.entries(await world.counts())
        for (const [name, { free: left, held, taken }] of counts) {
          expect({ name, held, all: left + taken }).toEqual({ name, held: 0, all: free[name as 'stock' | 'credit'] })
          expect(taken).toBe(result.outcome === 'confirmed' ? 3 : 0)
        }
      }),
      { numRuns: 100 },
    )
  })
})

/** Where a step is cut off: before it could do anything, or after it was done and before anybody knew. */
type Fault = false | 'before' | 'after'

interface WorldOptions {
  readonly free?: { readonly stock: number; readonly credit: number }
  fault?(call: { readonly participant: string; readonly step: Step | 'write' }): Fault
}

async function openWorld({ free = { stock: 10, credit: 10 }, fault = () => false }: WorldOptions = {}) {
  const coordinator = await openStore()
  const stores = { stock: await openStore(free.stock), credit: await openStore(free.credit) }
  const participants = { stock: faulty(resource(stores.stock)), credit: faulty(resource(stores.credit)) }
  let attempts = 0
  // No call takes long, unless a test says so.
  const clock = fakeClock()

  function faulty(participant: Participant<Body>): Participant<Body> {
    const wrapped = (step: Step) => async (call: Parameters<Participant<Body>['try']>[0]) => {
      const planned = fault({ participant: call.participant, step })
      if (planned === 'before') throw new Error('unreachable')
      const answer = await participant[step](call)
      if (planned === 'after') throw new Error('the answer was lost')
      return answer
    }
    return { try: wrapped('try'), confirm: wrapped('confirm'), cancel: wrapped('cancel') }
  }

  const { facts } = coordinator
  const site = {
    clock,
    facts: {
      ...{ read: facts.read, remove: facts.remove },
      async change(...change: Parameters<typeof facts.change>) {
        const planned = fault({ participant: 'coordinator', step: 'write' })
        if (planned === 'before') throw new Error('unreachable')
        const changed = await facts.change(...change)
        if (planned === 'after') throw new Error('the answer was lost')
        return changed
      },
    },
  }

  return {
    participants,
    facts: site.facts,
    clock,
    callOf: (participant: string, step: Step) => ({
      ...{ reservation: 'order', participant, id: 'r-1', body: { count: 3 } },
      idempotencyKey: `r-1/${participant}/${step}`,
      signal: new AbortController().signal,
    }),
    run: (change: Partial<Reservation<Body>> = {}) =>
      coordinate<Body>(
        site,
        { name: 'order', participants, timeoutMs: 60_000, callTimeoutMs: 10_000, ...change },
        { id: 'r-1', key: 'o-1', attempt: ++attempts, body: { count: 3 }, signal: new AbortController().signal },
      ),
    forget: () => coordinator.facts.remove(undefined, [reservationFact('r-1')]),
    async state() {
      const [fact] = await coordinator.facts.read([reservationFact('r-1')])
      return fact === undefined ? undefined : JSON.parse(fact.value)
    },
    counts: async () => ({ stock: await countsOf(stores.stock), credit: await countsOf(stores.credit) }),
  }
}

async function openStore(free?: number): Promise<SqliteStore> {
  const store = sqliteStore({ path: ':memory:' })
  opened.push(store)
  await store.schema.install()
  if (free !== undefined)
    await store.transaction(async (tx) => {
      tx.exec('create table resource (free integer not null, held integer not null, taken integer not null)')
      tx.prepare('insert into resource values (?, 0, 0)').run(free)
    })
  return store
}

function resource(store: SqliteStore): Participant<Body> {
  return participantIn<Parameters<Parameters<SqliteStore['transaction']>[0]>[0], Body>(store, {
    try(tx, { participant, body: { count } }) {
      const sql = 'update resource set free = free - ?, held = held + ? where free >= ?'
      const { changes } = tx.prepare(sql).run(count, count, count)
      if (changes === 0) throw new PermanentError(`There is not enough ${participant}.`)
    },
    confirm: (tx, { body: { count } }) =>
      tx.prepare('update resource set held = held - ?, taken = taken + ?').run(count, count),
    cancel: (tx, { body: { count } }) =>
      tx.prepare('update resource set held = held - ?, free = free + ?').run(count, count),
  })
}

function unreadable(): Error {
  return Object.defineProperty(new Error(), 'message', {
    get() {
      throw new Error('no')
    },
  })
}

async function countsOf(store: SqliteStore): Promise<{ free: number; held: number; taken: number }> {
  return await store.transaction(async (tx) => tx.prepare('select * from resource').get() as never)
}
