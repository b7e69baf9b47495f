import { expect, test } from 'vitest'
import { withLeases } from '../../test/conformance/with-leases.ts'
import type { Clock } from '../contracts/index.ts'
import { type Leases, leasesOf } from '../facts/index.ts'
import { MemoryDatabase, memoryStore } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { gate } from '../testing/waiting.ts'
import { withLease } from './with-lease.ts'

/** Two processes on one database, with one clock that only the test moves. */
function open(change: (leases: Leases) => Partial<Leases> = () => ({})) {
  const clock = fakeClock()
  const database = new MemoryDatabase({ clock })
  const { facts } = memoryStore({ database })
  const leases = leasesOf({ facts })
  const rival = memoryStore({ database })
  const released: number[] = []
  const release: Leases['release'] = async (name, fence) => {
    released.push(fence)
    return leases.release(name, fence)
  }
  return { clock, rival, released, store: { facts: withLeases(facts, { ...leases, release, ...change(leases) }) } }
}

const name = 'tidying'
/** A fence is at least the time of the store, in microseconds. */
const first = fakeClock().now().getTime() * 1_000

/** Two machines: time passes for both, and nothing of ours has had its turn meanwhile, as with a process that is frozen. */
function openFrozen() {
  const steady = fakeClock()
  let frozenMs = 0
  let sleptMs = 0
  const clock: Clock = {
    ...steady,
    now: () => new Date(steady.now().getTime() + frozenMs + sleptMs),
    monotonicMs: () => steady.monotonicMs() + frozenMs,
  }
  const database = new MemoryDatabase({ clock })
  return {
    clock,
    store: memoryStore({ database }),
    rival: memoryStore({ database }),
    freeze(ms: number) {
      frozenMs += ms
    },
    /** A machine that sleeps does not count the time. */
    suspend(ms: number) {
      sleptMs += ms
    },
  }
}

test('the work has the lease while it runs, and afterwards it is free', async () => {
  const { store, rival, clock } = open()
  const outcome = await withLease(store, name, { clock }, async (signal, fence) => {
    expect(signal.aborted).toBe(false)
    expect(fence).toBe(first)
    expect(await leasesOf(rival).acquire(name, 1_000)).toBeUndefined()
    return 'tidy'
  })
  expect(outcome).toEqual({ status: 'done', value: 'tidy' })
  expect(await leasesOf(rival).acquire(name, 1_000)).toEqual({ fence: first + 1 })
  expect(clock.waiting()).toBe(0)
})

test('the work ends after the lease has, because the process was frozen: lost, and not done', async () => {
  const { store, clock, rival, freeze } = openFrozen()
  let rivalFence = 0
  const working = withLease(store, name, { clock, leaseMs: 900 }, async () => {
    freeze(1_000)
    rivalFence = (await leasesOf(rival).acquire(name, 60_000))?.fence ?? 0
    return 'tidy'
  })
  await expect(working).rejects.toMatchObject({ code: 'LEASE_LOST' })
  expect(await leasesOf(rival).renew(name, rivalFence, 60_000)).toBe(true)
})

test('the same when nobody has taken it, and the store cannot be asked', async () => {
  const { store, clock, freeze } = openFrozen()
  const leases = { ...leasesOf(store), release: () => Promise.reject(new Error('no')) }
  const facts = withLeases(store.facts, leases)
  const working = withLease({ facts }, name, { clock, leaseMs: 900 }, async () => freeze(1_000))
  await expect(working).rejects.toMatchObject({ code: 'LEASE_LOST' })
})

test('a machine that has slept counts less time than the store: the store is asked', async () => {
  const { store, clock, suspend } = openFrozen()
  const working = withLease(store, name, { clock, leaseMs: 900 }, async () => suspend(1_000))
  await expect(working).rejects.toMatchObject({ code: 'LEASE_LOST' })
})

test('a store that does not answer at the end is not waited for longer than the lease lasts', async () => {
  const { store, clock } = open(() => ({ release: () => new Promise<never>(() => {}) }))
  const working = withLease(store, name, { clock, leaseMs: 900 }, async () => 1)
  await clock.advance(900)
  expect(await working).toEqual({ status: 'done', value: 1 })
  expect(clock.waiting()).toBe(0)
})

test('it is renewed for as long as the work takes', async () => {
  const { store, rival, clock } = open()
  const finish = gate()
  const working = withLease(store, name, { clock, leaseMs: 900 }, () => finish.opened)
  for (let turn = 0; turn < 40; turn++) {
    await clock.advance(250)
    expect(await leasesOf(rival).acquire(name, 1_000)).toBeUndefined()
  }
  finish.open()
  expect(await working).toMatchObject({ status: 'done' })
})

test('one renewal that fails does not lose it', async () => {
  let renewals = 0
  const { store, rival, clock } = open(({ renew }) => ({
    renew: (...given) => (++renewals === 2 ? Promise.reject(new Error('no')) : renew(...given)),
  }))
  const finish = gate()
  const working = withLease(store, name, { clock, leaseMs: 900 }, () => finish.opened)
  await clock.advance(5_000)
  expect(renewals).toBeGreaterThan(10)
  expect(await leasesOf(rival).acquire(name, 1_000)).toBeUndefined()
  finish.open()
  expect(await working).toMatchObject({ status: 'done' })
})

const troubles = {
  'the store says that it is lost': async () => false,
  'the store cannot be reached': () => Promise.reject(new Error('no')),
  'the store does not answer': () => new Promise<never>(() => {}),
}

test.each(Object.entries(troubles))('lost because %s: the signal says so, and it rejects', async (_, renew) => {
  const { store, clock } = open(() => ({ renew }))
  let signal: AbortSignal | undefined
  const finish = gate()
  const working = withLease(store, name, { clock, leaseMs: 900 }, async (given) => {
    signal = given
    await finish.opened
  })
  const rejected = expect(working).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await clock.advance(899 / 3)
  expect(signal?.aborted).toBe(false)
  await clock.advance(900)
  expect(signal?.aborted).toBe(true)
  expect(signal?.reason).toMatchObject({ code: 'LEASE_LOST' })
  finish.open()
  await rejected
})

test('its time counts from when it was asked for, not from the answer', async () => {
  const answering = gate()
  const { store, clock } = open(({ acquire }) => ({
    async acquire(...given) {
      const lease = await acquire(...given)
      await answering.opened
      return lease
    },
    renew: () => new Promise<never>(() => {}),
  }))
  let signal: AbortSignal | undefined
  const working = withLease(store, name, { clock, leaseMs: 900 }, async (given) => {
    signal = given
    await new Promise((resolve) => given.addEventListener('abort', resolve))
  })
  const rejected = expect(working).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await clock.advance(500)
  answering.open()
  await clock.advance(0)
  expect(signal?.aborted).toBe(false)
  await clock.advance(400)
  expect(signal?.aborted).toBe(true)
  await rejected
})

test('a lease that was lost meanwhile is not freed for its holder of now', async () => {
  const { store, rival, released, clock } = open(() => ({ renew: () => Promise.reject(new Error('no')) }))
  const finish = gate()
  const working = withLease(store, name, { clock, leaseMs: 900 }, () => finish.opened)
  const rejected = expect(working).rejects.toMatchObject({ code: 'LEASE_LOST' })
  await clock.advance(1_000)
  const later = first + 1_000_000
  expect(await leasesOf(rival).acquire(name, 60_000)).toEqual({ fence: later })
  finish.open()
  await rejected
  expect(released).toEqual([first])
  expect(await leasesOf(rival).renew(name, later, 60_000)).toBe(true)
})

test('what the work throws is what it rejects with, and the lease is free', async () => {
  const { store, rival, clock } = open(() => ({}))
  const working = withLease(store, name, { clock }, async () => {
    throw new Error('the work failed')
  })
  await expect(working).rejects.toThrow('the work failed')
  expect(await leasesOf(rival).acquire(name, 1_000)).toEqual({ fence: first + 1 })
})

test('a release that fails changes nothing: the work is done, and the lease ends by itself', async () => {
  const { store, clock } = open(() => ({ release: () => Promise.reject(new Error('no')) }))
  expect(await withLease(store, name, { clock }, async () => 1)).toEqual({ status: 'done', value: 1 })
})

test('somebody has it: busy at once, and the work does not run', async () => {
  const { store, rival, clock } = open()
  await leasesOf(rival).acquire(name, 60_000)
  let ran = false
  const outcome = await withLease(store, name, { clock }, async () => {
    ran = true
  })
  expect(outcome).toEqual({ status: 'busy' })
  expect(ran).toBe(false)
  expect(clock.waiting()).toBe(0)
})

test('waitMs: it waits for so long, and no longer', async () => {
  const { store, rival, clock } = open()
  await leasesOf(rival).acquire(name, 1_000)
  let outcome: unknown
  void withLease(store, name, { clock, waitMs: 700 }, async () => 1).then((value) => {
    outcome = value
  })
  await clock.advance(699)
  expect(outcome).toBeUndefined()
  await clock.advance(1)
  expect(outcome).toEqual({ status: 'busy' })
  const patient = withLease(store, name, { clock, waitMs: 700 }, async (_, fence) => fence)
  await clock.advance(400)
  expect(await patient).toMatchObject({ status: 'done', value: expect.any(Number) })
})

test.each([
  [{ leaseMs: 5 }, 'leaseMs'],
  [{ waitMs: -1 }, 'waitMs'],
  [{ leasMs: 100 }, 'leaseMs'],
] as const)('%j is refused', async (options, says) => {
  const { store } = open()
  await expect(withLease(store, name, options as object, async () => {})).rejects.toThrow(says)
})

test.each(['', 'x'.repeat(201), 'a\0b', 7])('the name %j is refused', async (given) => {
  const { store } = open()
  await expect(withLease(store, given as string, {}, async () => {})).rejects.toMatchObject({ code: 'OPTION_INVALID' })
})
