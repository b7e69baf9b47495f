import { expect, test } from 'vitest'
import { DidNotHappen, type EffectOptions, fixed, PermanentError } from '../../src/index.ts'
import { MemoryDatabase, memoryStore } from '../../src/memory.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { note, openApp, write } from './open-app.ts'

const mail = 'email.welcome'
const retry = { backoff: fixed(1_000) }

/** An app whose handler intends one call for each message, and the calls that were made. */
function openIntending(effect: Partial<EffectOptions>, { intend = {}, app = {} } = {}) {
  const opened = openApp(app)
  const calls: { key: string; idempotencyKey: string; attempt: number }[] = []
  const { run = () => 'sent', ...rest } = effect
  opened.app.effect(mail, {
    retry,
    ...rest,
    run(intent, context) {
      calls.push({ key: intent.key, idempotencyKey: context.idempotencyKey, attempt: context.attempt })
      return run(intent, context)
    },
  })
  opened.app.on('note.created', 'welcome', async (message, context) => {
    write(context.tx, message.id)
    await context.intend(mail, { to: message.id }, intend)
  })
  const intents = () => opened.app.operations.intents.list()
  return { ...opened, calls, intents }
}

test('an intent is called once after the commit, and its result is kept and handled', async () => {
  const { app, handle, clock, calls, effects, eventsOf, store, intents } = openIntending({
    run: ({ payload }) => ({ receipt: payload }),
  })
  const done: unknown[] = []
  app.on(`intent.done:${mail}`, 'note-receipt', ({ body }, { tx }) => {
    done.push(body)
    write(tx, 'receipts')
  })
  await handle(note('m1'), note('m1'))
  await clock.advance(5_000)
  expect(calls).toHaveLength(1)
  const [{ key, idempotencyKey }] = calls as [(typeof calls)[0]]
  expect(key).toBe(idempotencyKey)
  expect(done).toEqual([
    {
      effect: mail,
      key,
      idempotencyKey,
      payload: { to: 'm1' },
      result: { receipt: { to: 'm1' } },
      attempts: 1,
    },
  ])
  expect(effects()).toEqual({ m1: 1, receipts: 1 })
  expect(eventsOf('intent-done')).toEqual([{ kind: 'intent-done', effect: mail, key, attempts: 1, isLate: false }])
  expect(await intents()).toEqual([])
  const [record] = await store.inbox.find([{ handler: `!${mail}`, key }])
  expect(record).toMatchObject({ state: 'processed', result: JSON.stringify({ receipt: { to: 'm1' } }) })
  expect(await store.parking.list({ kind: 'any' })).toEqual([])
})

test('a handler that fails intends nothing', async () => {
  const { app, handle, clock, calls } = openApp_failing()
  await handle(note('m1'))
  await clock.advance(500)
  expect(calls).toEqual([])
  expect(await app.operations.intents.list()).toEqual([])
})

function openApp_failing() {
  const opened = openApp()
  const calls: string[] = []
  opened.app.effect(mail, { run: ({ key }) => void calls.push(key) })
  opened.app.on('note.created', 'welcome', async (_, { intend }) => {
    await intend(mail, {})
    throw new Error('no')
  })
  return { ...opened, calls }
}

test('a key of the user is intended once, whatever message asks for it', async () => {
  const { handle, clock, calls, eventsOf, store } = openIntending({}, { intend: { key: 'user 7' } })
  await handle(note('m1'), note('m2'))
  await clock.advance(5_000)
  await handle(note('m3'))
  await clock.advance(5_000)
  expect(calls.map(({ key }) => key)).toEqual(['user 7'])
  expect(calls[0]?.idempotencyKey).not.toBe('user 7')
  expect(eventsOf('intent-duplicate')).toHaveLength(2)
  expect(await store.inbox.find([{ handler: `!${mail}`, key: 'user 7' }])).toMatchObject([{ state: 'processed' }])
})

test('a bare call that throws is not repeated: its outcome is unknown, and a person decides', async () => {
  const { app, handle, clock, calls, eventsOf, intents } = openIntending({
    run: () => {
      throw new Error('socket hang up')
    },
  })
  await handle(note('m1'))
  await clock.advance(3_600_000)
  expect(calls).toHaveLength(1)
  const [intent] = await intents()
  expect(intent).toMatchObject({ state: 'unknown', needsPerson: true, attempts: 1, payload: { to: 'm1' } })
  expect(eventsOf('intent-unknown')).toMatchObject([{ next: 'person', attempts: 1 }])
  expect(await app.operations.intents.counts()).toMatchObject({ [mail]: { unknown: 1, needsPerson: 1 } })
  expect(await app.operations.letters.list()).toEqual([])
})

test('a bare call that did not happen is repeated, and given up after its attempts', async () => {
  const { app, handle, clock, calls, eventsOf, intents } = openIntending({
    retry: { ...retry, attempts: 3 },
    run: () => {
      throw new DidNotHappen('connect ECONNREFUSED')
    },
  })
  const failed: unknown[] = []
  app.on(`intent.failed:${mail}`, 'note-failure', ({ body }) => void failed.push(body))
  await handle(note('m1'))
  await clock.advance(60_000)
  expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  expect(await intents()).toMatchObject([{ state: 'given-up', needsPerson: true, attempts: 3 }])
  expect(eventsOf('intent-failed').map(({ state }) => state)).toEqual(['waiting', 'waiting', 'given-up'])
  expect(failed).toMatchObject([{ state: 'given-up', attempts: 3, payload: { to: 'm1' } }])
})

test('a provider that wants to be called again in a million years is called again in one', async () => {
  const { handle, clock, calls, intents } = openIntending({
    run: () => {
      throw new DidNotHappen('429', { delayMs: 1e25 })
    },
  })
  await handle(note('m1'))
  await clock.advance(1_000)
  const year = new Date(clock.now().getTime() + 365 * 86_400_000)
  expect(await intents()).toMatchObject([{ state: 'waiting', attempts: 1 }])
  const [{ nextAt } = { nextAt: undefined }] = await intents()
  expect(nextAt?.getTime()).toBeLessThanOrEqual(year.getTime())
  expect(calls).toHaveLength(1)
})

test('a keyed call is repeated after any error, always with the same key', async () => {
  let failures = 2
  const { handle, clock, calls, intents } = openIntending({
    keyed: true,
    run: () => {
      if (failures-- > 0) throw new Error('timeout')
    },
  })
  await handle(note('m1'))
  await clock.advance(60_000)
  expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
  expect(await intents()).toEqual([])
})

test('a keyed call whose attempts are used up is unknown, and given up only if it says so', async () => {
  const unsure = openIntending({
    keyed: true,
    retry: { ...retry, attempts: 2 },
    run: ({ payload }) => {
      if ((payload as { to: string }).to === 'm1') throw new Error('timeout')
      throw new PermanentError('no such address')
    },
  })
  await unsure.handle(note('m1'), note('m2'))
  await unsure.clock.advance(60_000)
  expect((await unsure.intents()).map(({ state, attempts }) => [state, attempts])).toEqual([
    ['unknown', 2],
    ['given-up', 1],
  ])
})

test('a probe is asked after the time to settle, and twice before the call is repeated', async () => {
  let failures = 1
  const asked: number[] = []
  const opened = openIntending({
    settleMs: 10_000,
    run: () => {
      if (failures-- > 0) throw new Error('socket hang up')
    },
    probe: () => {
      asked.push(opened.clock.monotonicMs())
      return { status: 'did-not-happen' }
    },
  })
  const { handle, clock, calls, intents } = opened
  await handle(note('m1'))
  const from = clock.monotonicMs()
  await clock.advance(9_000)
  expect(asked).toEqual([])
  await clock.advance(60_000)
  expect(asked).toHaveLength(2)
  expect((asked[0] as number) - from).toBeGreaterThanOrEqual(9_000)
  expect((asked[1] as number) - (asked[0] as number)).toBeGreaterThanOrEqual(10_000)
  expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2])
  expect(await intents()).toEqual([])
})

test('a call that a probe finds is not repeated, and its result is kept', async () => {
  const { handle, clock, calls, intents, eventsOf } = openIntending({
    run: () => {
      throw new Error('socket hang up')
    },
    probe: () => ({ status: 'happened', result: 'found' }),
  })
  await handle(note('m1'))
  await clock.advance(120_000)
  expect(calls).toHaveLength(1)
  expect(await intents()).toEqual([])
  expect(eventsOf('intent-done')).toHaveLength(1)
})

test('a provider that cannot say is asked again, less and less often, and then a person', async () => {
  let asked = 0
  const { handle, clock, calls, intents } = openIntending({
    settleMs: 1_000,
    run: () => {
      throw new Error('socket hang up')
    },
    probe: () => {
      if (asked++ % 2 === 0) throw new Error('503')
      return { status: 'unknown' }
    },
  })
  await handle(note('m1'))
  await clock.advance(3_600_000)
  expect(calls).toHaveLength(1)
  expect(asked).toBe(12)
  expect(await intents()).toMatchObject([{ state: 'unknown', needsPerson: true }])
})

test('a call that does not end in time is unknown, and its late result is accepted', async () => {
  const ends = Promise.withResolvers<string>()
  const { handle, clock, intents, eventsOf, store } = openIntending({ timeoutMs: 2_000, run: () => ends.promise })
  await handle(note('m1'))
  await clock.advance(5_000)
  const [intent] = await intents()
  expect(intent).toMatchObject({ state: 'unknown', needsPerson: true })
  ends.resolve('late')
  await clock.advance(1_000)
  expect(await intents()).toEqual([])
  expect(eventsOf('intent-done')).toMatchObject([{ isLate: true, attempts: 1 }])
  const key = intent?.key as string
  expect(await store.inbox.find([{ handler: `!${mail}`, key }])).toMatchObject([{ result: '"late"' }])
})

test('a late result is a conflict when a person has had it called again', async () => {
  const ends = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const opened = openIntending({ timeoutMs: 2_000, run: (_, { attempt }) => ends[attempt - 1]?.promise })
  const { app, handle, clock, intents, eventsOf, calls } = opened
  await handle(note('m1'))
  await clock.advance(5_000)
  const [intent] = await intents()
  await app.operations.intents.resolve(intent as never, { as: 'again' }, { by: 'ada' })
  await clock.advance(1_000)
  expect(calls).toHaveLength(2)
  ends[0]?.resolve('first')
  await clock.advance(0)
  expect(eventsOf('intent-conflict')).toMatchObject([{ attempt: 1 }])
  ends[1]?.resolve('second')
  await clock.advance(1_000)
  expect(await intents()).toEqual([])
})

test.for(['done', 'again', 'discarded'] as const)('a person resolves an unknown intent as %s', async (as) => {
  let isBroken = true
  const { app, handle, clock, intents, calls, store } = openIntending({
    run: () => {
      if (isBroken) throw new Error('socket hang up')
      return 'ok'
    },
  })
  const heard: string[] = []
  app.on(`intent.done:${mail}`, 'd', ({ body }) => void heard.push(`done ${String(body.result)}`))
  app.on(`intent.failed:${mail}`, 'f', ({ body }) => void heard.push(body.state))
  await handle(note('m1'))
  await clock.advance(5_000)
  const [intent] = await intents()
  isBroken = false
  const resolution = as === 'done' ? { as, result: 'seen there' } : { as }
  await app.operations.intents.resolve(intent as never, resolution, { by: 'ada', why: 'asked the provider' })
  await clock.advance(5_000)
  expect(await intents()).toEqual([])
  expect(heard).toEqual([{ done: 'done seen there', again: 'done ok', discarded: 'discarded' }[as]])
  expect(calls).toHaveLength(as === 'again' ? 2 : 1)
  const [record] = await store.inbox.find([{ handler: `!${mail}`, key: intent?.key as string }])
  expect(record?.state).toBe(as === 'discarded' ? 'discarded' : 'processed')
  expect(await app.operations.audit()).toMatchObject([
    { action: 'resolve', by: 'ada', why: 'asked the provider', subject: { effect: mail, as } },
  ])
})

test('an intent that is being called cannot be resolved', async () => {
  const ends = Promise.withResolvers<void>()
  const { app, handle, clock, intents } = openIntending({ run: () => ends.promise })
  await handle(note('m1'))
  await clock.advance(1_000)
  const [intent] = await intents()
  expect(intent?.state).toBe('running')
  await expect(app.operations.intents.resolve(intent as never, { as: 'again' }, { by: 'ada' })).rejects.toMatchObject({
    code: 'INTENT_NOT_FOUND',
  })
  ends.resolve()
  await clock.advance(0)
})

test('unknown: discard and repeat settle a bare call without a person', async () => {
  const run = () => {
    throw new Error('socket hang up')
  }
  const discarding = openIntending({ unknown: 'discard', run })
  await discarding.handle(note('m1'))
  await discarding.clock.advance(60_000)
  expect(discarding.calls).toHaveLength(1)
  expect(await discarding.intents()).toEqual([])
  expect(discarding.eventsOf('intent-unknown')).toMatchObject([{ next: 'discarded' }])
  const repeating = openIntending({ unknown: 'repeat', retry: { ...retry, attempts: 3 }, run })
  await repeating.handle(note('m1'))
  await repeating.clock.advance(60_000)
  expect(repeating.calls).toHaveLength(3)
})

test('an effect that the app does not have is refused, and a name that is nearly right is suggested', async () => {
  const { app, handle, clock, events } = openApp()
  app.effect(mail, { run() {} })
  app.effect('sms.code', { elsewhere: true })
  app.on('note.created', 'welcome', (_, { intend }) => intend('email.welcom', {}))
  await handle(note('m1'))
  await clock.advance(0)
  expect(events).toContainEqual(
    expect.objectContaining({
      kind: 'parked',
      error: expect.objectContaining({ code: 'EFFECT_UNKNOWN', message: expect.stringContaining('Did you mean') }),
    }),
  )
})

test('intents of an effect that no process has are reported, and kept', async () => {
  const { app, handle, clock, eventsOf } = openApp()
  app.effect('sms.code', { elsewhere: true })
  app.on('note.created', 'welcome', async (_, { intend }) => void (await intend('sms.code', { to: 1 })))
  await handle(note('m1'))
  await clock.advance(600_000)
  expect(eventsOf('effects-unknown')[0]).toMatchObject({ waiting: { 'sms.code': 1 } })
  expect(await app.operations.intents.list()).toMatchObject([{ effect: 'sms.code', state: 'pending' }])
})

test('an open breaker lets one call through now and then, and all of them when one has succeeded', async () => {
  let isAway = true
  const atOnce: number[] = []
  const { handle, clock, calls, intents, eventsOf } = openIntending({
    retry: { attempts: 1_000, backoff: fixed(1_000) },
    breaker: { after: 3, pauseMs: 1_000 },
    run: () => {
      atOnce.push(clock.monotonicMs())
      if (isAway) throw new DidNotHappen('connect ECONNREFUSED')
    },
  })
  await handle(...Array.from({ length: 20 }, (_, index) => note(`m${index}`)))
  await clock.advance(10_000)
  expect(eventsOf('breaker-opened')).toHaveLength(1)
  const before = calls.length
  await clock.advance(300_000)
  const trials = atOnce.slice(before)
  expect(trials.length).toBeGreaterThan(2)
  expect(trials.length).toBeLessThan(12)
  expect(new Set(trials).size).toBe(trials.length)
  isAway = false
  await clock.advance(120_000)
  expect(eventsOf('breaker-closed')).toHaveLength(1)
  expect(await intents()).toEqual([])
  expect(calls.length).toBeGreaterThanOrEqual(20 + trials.length)
})

test.for([
  [new DidNotHappen('no such address', { permanent: true }), false],
  [new PermanentError('no such address'), true],
] as const)('calls that are refused for good do not slow down the others: %s', async ([refusal, keyed]) => {
  const { handle, clock, calls, intents, eventsOf } = openIntending({
    keyed,
    run: ({ payload }) => {
      if ((payload as { to: string }).to.startsWith('bad')) throw refusal
    },
  })
  const bad = Array.from({ length: 12 }, (_, index) => note(`bad ${index}`))
  await handle(...bad, note('good'))
  await clock.advance(0)
  expect(calls).toHaveLength(13)
  expect(eventsOf('breaker-opened')).toEqual([])
  expect((await intents()).map(({ state }) => state)).toEqual(bad.map(() => 'given-up'))
})

test('an outcome that the codec cannot encode is stored all the same: the call is over, and its message a dead letter', async () => {
  const broken = {
    encode: () => {
      throw new Error('no schema for it')
    },
    decode: () => {
      throw new Error('no schema for it')
    },
  }
  const { app, handle, clock, calls, intents, eventsOf } = openIntending(
    { keyed: true },
    { app: { codec: { [`intent.done:${mail}`]: broken } } },
  )
  app.on(`intent.done:${mail}`, 'note-receipt', () => {})
  await handle(note('m1'))
  await clock.advance(600_000)
  expect(calls).toHaveLength(1)
  expect(await intents()).toEqual([])
  expect(eventsOf('warning')).toMatchObject([{ code: 'BODY_NOT_ENCODED' }])
  expect(await app.operations.letters.list()).toMatchObject([{ type: `intent.done:${mail}` }])
})

test('a result that JSON cannot hold is not kept, and the call is done', async () => {
  const { handle, clock, calls, intents, eventsOf } = openIntending({ run: () => 1n })
  await handle(note('m1'))
  await clock.advance(600_000)
  expect(calls).toHaveLength(1)
  expect(await intents()).toEqual([])
  expect(eventsOf('warning')).toMatchObject([{ code: 'INTENT_RESULT_NOT_KEPT' }])
})

test('an attempt whose beginning got no answer counts as begun: another process may have made the call meanwhile', async () => {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const inner = memoryStore({ database })
  let isLost = true
  const rebook: typeof inner.parking.rebook = async (bookings, forMs) => {
    const answers = await inner.parking.rebook(bookings, forMs)
    if (!isLost || bookings.every(({ begun }) => begun === 0)) return answers
    isLost = false
    throw new Error('The connection was lost.')
  }
  const store = { ...inner, parking: { ...inner.parking, rebook } }
  const { handle, calls, intents } = openIntending({}, { app: { store, database, clock, log: false } })
  await handle(note('m1'))
  await clock.advance(3_600_000)
  expect(isLost).toBe(false)
  expect(calls).toEqual([])
  expect(await intents()).toMatchObject([{ state: 'unknown', needsPerson: true, attempts: 1 }])
})

test('a probe whose answer throws when it is read cannot say: it is asked again, and then a person', async () => {
  const { handle, clock, calls, intents, eventsOf } = openIntending({
    settleMs: 1_000,
    run: () => {
      throw new Error('socket hang up')
    },
    probe: () => ({
      get status(): 'happened' {
        throw new Error('the answer was cut off')
      },
    }),
  })
  await handle(note('m1'))
  await clock.advance(3_600_000)
  expect(calls).toHaveLength(1)
  expect(await intents()).toMatchObject([{ state: 'unknown', needsPerson: true }])
  expect(eventsOf('loop-failed')).toEqual([])
})
