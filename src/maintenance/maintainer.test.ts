import { expect, onTestFinished, test } from 'vitest'
import type { JustonceEvent, Retention } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { leasesOf } from '../facts/index.ts'
import { withLease } from '../leases/with-lease.ts'
import { MemoryDatabase, memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { recordOf } from '../testing/sample-records.ts'
import { gate } from '../testing/waiting.ts'
import { type MaintainerOptions, maintainer as newMaintainer } from './maintainer.ts'

const aDay = 86_400_000
const aMinute = 60_000
const keep = { keepMs: 10 * aDay, keepTimelessMs: undefined }

/** Several maintainers on one database; what they do is written down in order. */
function open() {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const done: string[] = []
  const events: JustonceEvent[] = []
  const store = memoryStore({ database })
  const start = (name: string, options: MaintainerOptions = keep, change: Partial<Retention> = {}) => {
    const { facts, retention: real } = memoryStore({ database })
    const say = <Key extends keyof Retention>(step: Key): Retention[Key] =>
      (async (...given: readonly unknown[]) => {
        done.push(`${name} ${step}`)
        return await ((change[step] ?? real[step]) as (...all: readonly unknown[]) => unknown)(...given)
      }) as unknown as Retention[Key]
    const retention = { ...real, prepare: say('prepare'), raise: say('raise'), remove: say('remove') }
    const emit = (event: JustonceEvent) => void events.push(event)
    const maintainer = newMaintainer({ facts, retention }, { clock, events: { emit, listen: () => () => {} } }, options)
    maintainer.start()
    onTestFinished(() => maintainer.stop())
    return maintainer
  }
  const claim = (key: string, bornDaysAgo: number | undefined) =>
    store.transaction((tx) => {
      const born = bornDaysAgo === undefined ? undefined : new Date(clock.now().getTime() - bornDaysAgo * aDay)
      return store.inbox.claim(tx, [{ handler: 'tag-note', key, fingerprint: undefined, born }])
    })
  const has = async (key: string) => (await recordOf(store, { handler: 'tag-note', key })) !== undefined
  return { clock, store, done, events, start, claim, has }
}

test('it prepares, raises the horizon, and then removes what lies well behind it', async () => {
  const { clock, start, claim, has, done, events, store } = open()
  await claim('old', 11)
  await claim('just below the horizon', 10 + 1 / 48)
  await claim('young', 9)
  await claim('timeless', undefined)
  start('a')
  await clock.advance(0)
  expect(done).toEqual(['a prepare', 'a raise', 'a remove'])
  const horizon = new Date(clock.now().getTime() - keep.keepMs)
  expect(await store.retention.horizon()).toEqual(horizon)
  expect(await Promise.all(['old', 'just below the horizon', 'young', 'timeless'].map(has))).toEqual([
    false,
    true,
    true,
    true,
  ])
  expect(events).toEqual([{ kind: 'retained', removed: 1, horizon }])
})

test('records without a time go only where that is said, and by when they were processed', async () => {
  const { clock, start, claim, has } = open()
  await claim('early', undefined)
  await clock.advance(3 * aDay)
  await claim('late', undefined)
  const careful = start('a')
  await clock.advance(5 * aDay)
  expect(await has('early')).toBe(true)
  await careful.stop()
  start('b', { keepMs: 10 * aDay, keepTimelessMs: 7 * aDay })
  await clock.advance(2 * aMinute)
  expect([await has('early'), await has('late')]).toEqual([false, true])
})

test('where nothing is to be removed it only prepares', async () => {
  const { clock, start, store, done } = open()
  start('a', { keepMs: undefined, keepTimelessMs: undefined })
  await clock.advance(10 * aMinute)
  expect(new Set(done)).toEqual(new Set(['a prepare']))
  expect(await store.retention.horizon()).toBeUndefined()
})

test('of several only the elected one works, and another takes over when it stops', async () => {
  const { clock, start, done } = open()
  const hanging = gate()
  const first = start('a', keep, {
    async remove() {
      await hanging.opened
      return { removed: 0, more: false }
    },
  })
  await clock.advance(0)
  start('b')
  await clock.advance(30_000)
  expect(done).toEqual(['a prepare', 'a raise', 'a remove'])
  const stopped = first.stop()
  hanging.open()
  await stopped
  await clock.advance(5 * aMinute)
  expect(done.filter((step) => step.startsWith('a'))).toHaveLength(3)
  expect(done).toContain('b remove')
})

test('a process that has lost the lease removes no more', async () => {
  const { clock, start, done, store } = open()
  start('a', keep, { remove: async () => ({ removed: 1, more: true }) })
  await clock.advance(0)
  expect(done.filter((step) => step === 'a remove')).toHaveLength(1)
  const fence = clock.now().getTime() * 1_000
  expect(await leasesOf(store, 'duty').release('maintenance', fence)).toBe(true)
  expect(await leasesOf(store, 'duty').acquire('maintenance', 60 * aMinute)).toEqual({ fence: fence + 1 })
  await clock.advance(30 * aMinute)
  expect(done.filter((step) => step === 'a remove')).toHaveLength(1)
})

test('whatever an application calls its own leases, it works', async () => {
  const { clock, start, done, store } = open()
  const hanging = gate()
  const holding = withLease(store, 'maintenance', { clock }, () => hanging.opened)
  start('a')
  await clock.advance(10 * aMinute)
  expect(done).toContain('a remove')
  hanging.open()
  expect(await holding).toMatchObject({ status: 'done' })
})

test('it goes on in small steps until there is no more, keeping its lease', async () => {
  const { clock, start, store } = open()
  let left = 700
  start('a', keep, { remove: async () => ({ removed: 1, more: --left > 0 }) })
  while (left > 1) {
    await clock.advance(200)
    expect(await leasesOf(store, 'duty').acquire('maintenance', 1_000)).toBeUndefined()
  }
  await clock.advance(200)
  expect(left).toBe(0)
})

test.each(['prepare', 'raise', 'remove'] as const)('it reports when %s fails, and tries again later', async (step) => {
  const { clock, start, done, events, claim, has } = open()
  await claim('old', 11)
  let failures = 0
  const error = new Error('no')
  const real = open().store.retention
  start('a', keep, {
    [step]: async (...given: readonly never[]) => {
      if (failures++ < 2) throw error
      if (step === 'prepare') return
      return await (real[step] as (...all: readonly never[]) => Promise<unknown>)(...given)
    },
  })
  await clock.advance(0)
  if (step === 'raise') expect(done).not.toContain('a remove')
  await clock.advance(10 * aMinute)
  expect(events.filter(({ kind }) => kind === 'loop-failed')).toEqual([
    { kind: 'loop-failed', loop: 'maintenance', error },
    { kind: 'loop-failed', loop: 'maintenance', error },
  ])
  expect(done.filter((each) => each === `a ${step}`).length).toBeGreaterThan(2)
  if (step === 'prepare') expect(await has('old')).toBe(false)
})

test('it stops at once, in a pause as between two steps, and frees the lease', async () => {
  const { clock, start, done, store } = open()
  const maintainer = start('a', keep, { remove: async () => ({ removed: 1, more: true }) })
  await clock.advance(1_000)
  const before = done.length
  await maintainer.stop()
  expect(done).toHaveLength(before)
  expect(clock.waiting()).toBe(0)
  expect(await leasesOf(store, 'duty').acquire('maintenance', 1_000)).toBeDefined()
  const resting = start('b')
  await clock.advance(0)
  await resting.stop()
  expect(clock.waiting()).toBe(0)
})

test('a clock of the database that jumps is reported once, and nothing is removed by it', async () => {
  const { clock, start, claim, has, done, events } = open()
  await claim('today', 0)
  const database = { aheadMs: 0 }
  const real = memoryStore({ database: new MemoryDatabase({ clock: ahead(clock, database) }) }).retention
  const raise: Retention['raise'] = (keepMs, steadyNow) => real.raise(keepMs, steadyNow)
  start('a', keep, { raise })
  await clock.advance(0)
  expect(done).toEqual(['a prepare', 'a raise', 'a remove'])
  database.aheadMs = 400 * aDay
  await clock.advance(10 * aMinute)
  expect(done.filter((step) => step === 'a remove')).toHaveLength(1)
  expect(events.filter(({ kind }) => kind === 'warning')).toEqual([
    { kind: 'warning', code: 'CLOCK_JUMPED', message: expect.stringContaining('clock says') },
  ])
  database.aheadMs = 0
  await clock.advance(2 * aMinute)
  expect(done.filter((step) => step === 'a remove').length).toBeGreaterThan(1)
  expect(await has('today')).toBe(true)
})

test('a jump is believed by a process that has seen that much time pass', async () => {
  const { clock, start, done, events } = open()
  const outage = gate()
  let isFirst = true
  start('a', keep, {
    async prepare() {
      if (!isFirst) await outage.opened
      isFirst = false
    },
  })
  await clock.advance(60 * aDay)
  expect(done).toEqual(['a prepare', 'a raise', 'a remove', 'a prepare'])
  outage.open()
  await clock.advance(5 * aMinute)
  expect(done.filter((step) => step === 'a remove').length).toBeGreaterThan(1)
  expect(events.filter(({ kind }) => kind === 'warning')).toEqual([])
})

function ahead(clock: ReturnType<typeof fakeClock>, by: { readonly aheadMs: number }) {
  return {
    monotonicMs: () => clock.monotonicMs(),
    timer: (ms: number, callback: () => void) => clock.timer(ms, callback),
    now: () => new Date(clock.now().getTime() + by.aheadMs),
  }
}

test('what only the owner of the tables may do is said once, and everything else is done', async () => {
  const { clock, start, events, done, store } = open()
  const denied = async () => {
    throw new JustonceError('STORE_DENIED', { message: 'must be owner of table justonce_inbox' })
  }
  start('a', keep, { prepare: denied, remove: denied })
  await clock.advance(10 * aMinute)
  expect(done.filter((step) => step === 'a raise').length).toBeGreaterThan(3)
  expect(await store.retention.horizon()).toBeDefined()
  expect(events.map((event) => (event.kind === 'warning' ? event.code : event.kind))).toEqual([
    'OWNER_NEEDED',
    'OWNER_NEEDED',
  ])
  for (const event of events) expect(event).toMatchObject({ message: expect.stringContaining('npx justonce maintain') })
})

test('an app whose ids have no time needs no room prepared', async () => {
  const { clock, start, done } = open()
  start('a', { ...keep, isTimeless: true })
  await clock.advance(0)
  expect(done).toEqual(['a raise', 'a remove'])
})
