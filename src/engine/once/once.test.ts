import { channel } from 'node:diagnostics_channel'
import { expect, onTestFinished, test, vi } from 'vitest'
import { write } from '../../../test/app/open-app.ts'
import type { JustonceEvent } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { MemoryDatabase, memoryStore } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { type OnceKey, once } from './once.ts'

const charge = { handler: 'charge', key: 'evt-1' }

function openStore() {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const store = memoryStore({ database })
  const events: JustonceEvent[] = []
  const listener = (event: unknown) => void events.push(event as JustonceEvent)
  channel('justonce').subscribe(listener)
  onTestFinished(() => void channel('justonce').unsubscribe(listener))
  return { clock, store, database, events }
}

test.each([
  ['an object', { charged: 5 }, { charged: 5 }],
  ['a date, as JSON has it', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
  ['null', null, null],
  ['nothing', undefined, undefined],
  ['false', false, false],
  ['empty text', '', ''],
])('the first call and a duplicate have the same value: %s', async (_, value, seen) => {
  const { store, clock } = openStore()
  expect(await once(store, charge, () => value as unknown)).toEqual({ status: 'processed', value: seen })
  await clock.advance(5_000)
  expect(await once(store, charge, () => expect.unreachable())).toEqual({
    status: 'duplicate',
    value: seen,
    processedAt: new Date('2030-01-01T00:00:00Z'),
  })
})

test('what the work throws comes out, and leaves nothing', async () => {
  const { store, database } = openStore()
  const error = new Error('declined')
  const failing = once(store, charge, (tx) => {
    write(tx, 'charged')
    throw error
  })
  await expect(failing).rejects.toBe(error)
  expect(await once(store, charge, (tx) => write(tx, 'charged'))).toMatchObject({ status: 'processed' })
  expect(database.committedValue('charged')).toBe(1)
})

test('the same key with other content is refused; with the same content in another order it is a duplicate', async () => {
  const { store } = openStore()
  await once(store, { ...charge, content: { amount: 5, to: 'a' } }, () => 1)
  expect(await once(store, { ...charge, content: { to: 'a', amount: 5 } }, () => 2)).toMatchObject({ value: 1 })
  const reused = once(store, { ...charge, content: { amount: 6, to: 'a' } }, () => 3)
  await expect(reused).rejects.toSatisfy((error) => isJustonceError(error, 'KEY_REUSED'))
  await expect(reused).rejects.toThrow(/the key evt-1 of handler charge and different content/)
})

test('without content nothing is compared', async () => {
  const { store } = openStore()
  await once(store, charge, () => 1)
  expect(await once(store, { ...charge, content: { amount: 6 } }, () => 2)).toMatchObject({ status: 'duplicate' })
})

test('hooks run after the commit, in order', async () => {
  const { store, database } = openStore()
  const seen: unknown[] = []
  await once(store, charge, (tx, { afterCommit }) => {
    write(tx, 'charged')
    afterCommit(() => void seen.push(database.committedValue('charged')))
    afterCommit(async () => void seen.push('second'))
  })
  expect(seen).toEqual([1, 'second'])
})

test('a hook that fails is reported on the diagnostics channel, and changes nothing: the work is done', async () => {
  const { store, events } = openStore()
  const error = new Error('cache is down')
  const outcome = await once(store, charge, (_, { afterCommit }) => {
    afterCommit(() => {
      throw error
    })
    return 5
  })
  expect(outcome).toEqual({ status: 'processed', value: 5 })
  expect(events).toEqual([{ kind: 'after-commit-failed', handler: 'charge', error }])
})

test('a hook that does not end is reported, and holds up neither the outcome nor the hooks after it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { store, events } = openStore()
  const ran: string[] = []
  const outcome = once(store, charge, (_, { afterCommit }) => {
    afterCommit(() => new Promise(() => {}))
    afterCommit(() => ran.push('second'))
    return 5
  })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(await outcome).toEqual({ status: 'processed', value: 5 })
  expect(ran).toEqual(['second'])
  expect(events).toMatchObject([{ kind: 'after-commit-failed', handler: 'charge', error: { code: 'HOOK_TIMEOUT' } }])
})

test('a hook that is registered too late is reported on the diagnostics channel', async () => {
  const { store, events } = openStore()
  let register: ((hook: () => void) => void) | undefined
  await once(store, charge, (_, { afterCommit }) => {
    register = afterCommit
  })
  register?.(() => expect.unreachable())
  expect(events).toMatchObject([{ kind: 'late-call', handler: 'charge', error: { code: 'TX_CLOSED' } }])
})

test('a call that comes too late is reported on the diagnostics channel', async () => {
  const { store, database, events } = openStore()
  const later = Promise.withResolvers<void>()
  let late: Promise<unknown> | undefined
  await once(store, charge, (tx) => {
    late = later.promise.then(() => write(tx, 'late')).catch((error: unknown) => error)
  })
  later.resolve()
  expect(isJustonceError(await late, 'TX_CLOSED')).toBe(true)
  expect(events).toMatchObject([{ kind: 'late-call', handler: 'charge' }])
  expect(database.committedValue('late')).toBeUndefined()
})

test('a commit whose answer was lost is recognised by claiming again', async () => {
  const { store, database } = openStore()
  const { transaction } = store
  let lost = 1
  const unreliable: typeof store = {
    ...store,
    async transaction(work, options) {
      const value = await transaction(work, options)
      if (lost-- > 0) throw new JustonceError('COMMIT_UNKNOWN', { message: 'The connection is gone.' })
      return value
    },
  }
  const outcome = await once(unreliable, charge, (tx) => {
    write(tx, 'charged')
    return 5
  })
  expect(outcome).toMatchObject({ status: 'duplicate', value: 5 })
  expect(database.committedValue('charged')).toBe(1)
})

test.each([
  { truth: 'is there', outcome: { status: 'duplicate', value: 5 } },
  { truth: 'is not there', outcome: 'COMMIT_UNKNOWN' },
])('what cannot be rolled back is not done again after a lost answer, if the record $truth', async (expected) => {
  const { store } = openStore()
  const { transaction } = store
  let commits = 0
  const unreliable: typeof store = {
    ...store,
    guarantee: 'lease' as never,
    async transaction(work, options) {
      const lost = new JustonceError('COMMIT_UNKNOWN', { message: 'The connection is gone.' })
      return await transaction(async (tx, lastWrites) => {
        const value = await work(tx, lastWrites)
        if (commits++ === 0 && expected.truth === 'is not there') throw lost
        return value
      }, options).then((value) => {
        if (commits === 1) throw lost
        return value
      })
    },
  }
  let times = 0
  const outcome = await once(unreliable, charge, () => {
    times++
    return 5
  }).catch((error: JustonceError) => error.code)
  expect(times).toBe(1)
  expect(outcome).toEqual(
    typeof expected.outcome === 'string' ? expected.outcome : expect.objectContaining(expected.outcome),
  )
})

test('a store that is refused its own tables is not taken for a twin', async () => {
  const { store } = openStore()
  const denied = new JustonceError('STORE_DENIED', { message: 'permission denied for table justonce_inbox.' })
  const refused = { ...store, transaction: () => Promise.reject(denied), classify: () => 'conflict' as const }
  await expect(once(refused, charge, () => expect.unreachable())).rejects.toBe(denied)
})

test('while a twin runs for longer than waitMs the outcome is busy', async () => {
  const { store, clock } = openStore()
  const running = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const first = once(store, charge, async () => {
    begun.resolve()
    await running.promise
    return 5
  })
  await begun.promise
  const second = once(store, { ...charge, waitMs: 200 }, () => 6)
  await clock.advance(200)
  expect(await second).toEqual({ status: 'busy' })
  running.resolve()
  expect(await first).toEqual({ status: 'processed', value: 5 })
  expect(await once(store, { ...charge, waitMs: 200 }, () => 7)).toMatchObject({ status: 'duplicate', value: 5 })
})

test('where a handler of that name has parked it, the outcome says so', async () => {
  const { store } = openStore()
  await store.transaction(async (tx) => {
    await store.inbox.claim(tx, [{ ...charge, fingerprint: undefined }])
    await store.inbox.update(tx, [{ ...charge, state: 'parked' }])
  })
  expect(await once(store, charge, () => 1)).toEqual({ status: 'parked' })
})

test('joined, it commits with the caller or not at all', async () => {
  const { store, database } = openStore()
  const undone = store.transaction(async (tx) => {
    expect(await once(store.within(tx), charge, (lent) => write(lent, 'charged'))).toMatchObject({
      status: 'processed',
    })
    throw new Error('the caller changes its mind')
  })
  await expect(undone).rejects.toThrow('changes its mind')
  expect(database.committedValue('charged')).toBeUndefined()
  await store.transaction((tx) => once(store.within(tx), charge, (lent) => write(lent, 'charged')))
  expect(database.committedValue('charged')).toBe(1)
})

test('joined, work that throws leaves the transaction of the caller usable', async () => {
  const { store, database } = openStore()
  await store.transaction(async (tx) => {
    const failing = once(store.within(tx), charge, (lent) => {
      write(lent, 'charged')
      throw new Error('declined')
    })
    await expect(failing).rejects.toThrow('declined')
    write(tx, 'noted')
  })
  expect([database.committedValue('charged'), database.committedValue('noted')]).toEqual([undefined, 1])
})

test('joined, there is no afterCommit, for those who do not look at types either', async () => {
  const { store } = openStore()
  type Untyped = (tx: unknown, context: { afterCommit(work: () => void): void }) => void
  const work: Untyped = (_, { afterCommit }) => afterCommit(() => {})
  const joined = store.transaction((tx) => once(store.within(tx), charge, work as never))
  await expect(joined).rejects.toThrow(/afterCommit\(\) cannot be used with store.within/)
})

test('work that takes longer than its time is cut off, and leaves nothing', async () => {
  const { store, database, events } = openStore()
  const aborted = Promise.withResolvers<unknown>()
  const late = Promise.withResolvers<unknown>()
  const endless = once(store, { ...charge, timeoutMs: 20 }, async (tx, { signal }) => {
    write(tx, 'charged')
    signal.addEventListener('abort', () => aborted.resolve(signal.reason))
    await aborted.promise
    await endless.catch(() => {})
    late.resolve(
      await Promise.resolve()
        .then(() => write(tx, 'late'))
        .catch((error: unknown) => error),
    )
  })
  await expect(endless).rejects.toMatchObject({ code: 'HANDLER_TIMEOUT', message: expect.stringContaining('charge') })
  expect(await aborted.promise).toMatchObject({ code: 'HANDLER_TIMEOUT' })
  expect(await late.promise).toMatchObject({ code: 'TX_CLOSED' })
  expect([database.committedValue('charged'), database.committedValue('late')]).toEqual([undefined, undefined])
  expect(events).toMatchObject([{ kind: 'late-call', handler: 'charge' }])
  expect(await once(store, charge, (tx) => write(tx, 'charged'))).toMatchObject({ status: 'processed' })
})

test('joined, work that takes too long leaves the transaction of the caller usable', async () => {
  const { store, database } = openStore()
  await store.transaction(async (tx) => {
    const endless = once(store.within(tx), { ...charge, timeoutMs: 20 }, (lent) => {
      write(lent, 'charged')
      return new Promise(() => {})
    })
    await expect(endless).rejects.toMatchObject({ code: 'HANDLER_TIMEOUT' })
    write(tx, 'noted')
  })
  expect([database.committedValue('charged'), database.committedValue('noted')]).toEqual([undefined, 1])
})

test('publish is refused with the call to use instead, for those who do not look at types', async () => {
  const { store } = openStore()
  const work = (_: unknown, context: unknown) => (context as { publish(type: string): Promise<string> }).publish('a')
  await expect(once(store, charge, work)).rejects.toThrow(
    /publish\(\) cannot be used with once\(store, …\).*Use app\.once/,
  )
})

test.each([
  ['no key', { handler: 'charge' }, 'MESSAGE_ID_INVALID', 'The key given to once() cannot be a key (undefined).'],
  ['an empty handler', { handler: '', key: 'k' }, 'MESSAGE_ID_INVALID', 'The handler given to once()'],
  ['a key with NUL', { handler: 'charge', key: 'a\0' }, 'MESSAGE_ID_INVALID', '"a\\u0000"'],
  ['a misspelt option', { handler: 'charge', key: 'k', contents: 1 }, 'OPTION_UNKNOWN', 'Did you mean content?'],
  [
    'a time that is none',
    { handler: 'charge', key: 'k', waitMs: Number.NaN },
    'OPTION_INVALID',
    'waitMs of once() is NaN',
  ],
  ['no time', { handler: 'charge', key: 'k', timeoutMs: 0 }, 'OPTION_INVALID', 'timeoutMs of once() is 0'],
])('%s is refused', async (_, key, code, text) => {
  const { store } = openStore()
  const error = await once(store, key as OnceKey, () => expect.unreachable()).catch((thrown: JustonceError) => thrown)
  expect(error).toMatchObject({ code, message: expect.stringContaining(text) })
})

test('what JSON cannot hold is a failure of the work, and leaves nothing', async () => {
  const { store, database } = openStore()
  const failing = once(store, charge, (tx) => {
    write(tx, 'charged')
    return { amount: 5n }
  })
  await expect(failing).rejects.toThrow(TypeError)
  expect(database.committedValue('charged')).toBeUndefined()
})
