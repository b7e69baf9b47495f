import { expect, test } from 'vitest'
import type { JustonceEvent } from '../contracts/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { StoreGate } from './store-gate.ts'

function openGate(random = 0.5) {
  const clock = fakeClock({ random: () => random })
  const events: JustonceEvent[] = []
  const pings: number[] = []
  let isUp = false
  let slow: Promise<void> | undefined
  const store = {
    classify: () => 'unavailable' as const,
    async ping() {
      pings.push(clock.monotonicMs())
      if (slow !== undefined) return await slow
      if (!isUp) throw new Error('down')
    },
  }
  const gate = new StoreGate(store, clock, { emit: (event) => void events.push(event), listen: () => () => {} })
  const stopping = new AbortController()
  return {
    gate,
    clock,
    events,
    pings,
    signal: stopping.signal,
    stop: () => stopping.abort(),
    storeIsBack: () => {
      isUp = true
    },
    becomeSlow: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      slow = promise
      return resolve
    },
    /** Whether somebody who asks now would have to wait. */
    async isOpen(): Promise<boolean> {
      let opened = false
      void gate.open(stopping.signal).then(() => {
        opened = true
      })
      await new Promise((resolve) => setImmediate(resolve))
      return opened
    },
  }
}

test('it is open until it is closed, and says so once', async () => {
  const { gate, clock, isOpen, events, signal, stop } = openGate()
  expect(await isOpen()).toBe(true)
  expect(gate.isOpen).toBe(true)
  const error = new Error('lost')
  gate.close(error, signal)
  gate.close(new Error('again'), signal)
  expect(gate.isOpen).toBe(false)
  expect(await isOpen()).toBe(false)
  await clock.advance(10_000)
  expect(events).toEqual([{ kind: 'store-down', error }])
  stop()
})

test('a store that answers again at once was not down, unless it fails again before anything has worked', async () => {
  const { gate, clock, events, signal, storeIsBack } = openGate()
  const failed = async (): Promise<void> => {
    gate.close(new Error('lost'), signal)
    while (!gate.isOpen) await clock.advance(10)
  }
  gate.close(new Error('lost'), signal)
  await clock.advance(150)
  storeIsBack()
  await clock.advance(1_000)
  expect(gate.isOpen).toBe(true)
  gate.worked()
  await failed()
  await clock.advance(3_600_000)
  await failed()
  expect(events).toEqual([])
  await failed()
  expect(events.map(({ kind }) => kind)).toEqual(['store-down', 'store-up'])
})

test('a store that is slow to answer is reported meanwhile', async () => {
  const { gate, clock, events, signal, becomeSlow, stop } = openGate()
  const answer = becomeSlow()
  gate.close(new Error('lost'), signal)
  await clock.advance(2_000)
  expect(events.map(({ kind }) => kind)).toEqual(['store-down'])
  answer()
  await clock.advance(0)
  expect(events.map(({ kind }) => kind)).toEqual(['store-down', 'store-up'])
  stop()
})

test('it opens when the store answers, not before, for all who wait', async () => {
  const { gate, clock, isOpen, events, signal, storeIsBack } = openGate()
  gate.close(new Error('lost'), signal)
  let opened = 0
  for (let i = 0; i < 3; i++) void gate.open(signal).then(() => opened++)
  await clock.advance(60_000)
  expect(opened).toBe(0)
  storeIsBack()
  await clock.advance(60_000)
  expect(opened).toBe(3)
  expect(await isOpen()).toBe(true)
  expect(events.map(({ kind }) => kind)).toEqual(['store-down', 'store-up'])
})

test('it asks less and less often, up to every five seconds', async () => {
  const { gate, clock, pings, signal, stop } = openGate()
  gate.close(new Error('lost'), signal)
  await clock.advance(30_000)
  const pauses = pings.map((at, index) => at - (pings[index - 1] ?? 0))
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000])
  stop()
})

test('one outage that several lanes meet is one failure: it is asked again as soon as for one lane', async () => {
  const { gate, clock, pings, signal, stop } = openGate()
  for (let lane = 0; lane < 4; lane++) gate.close(new Error('lost'), signal)
  await clock.advance(1_000)
  expect(pings).toEqual([100, 300, 700])
  stop()
})

test('the pauses are spread, so that a hundred processes do not ask together', async () => {
  const pauses = [0, 0.999].map(async (random) => {
    const { gate, clock, pings, signal, stop } = openGate(random)
    gate.close(new Error('lost'), signal)
    await clock.advance(200)
    stop()
    return Math.round(pings[0] as number)
  })
  expect(await Promise.all(pauses)).toEqual([50, 150])
})

test('a store that answers and fails at its work is asked less and less often, until something has worked', async () => {
  const { gate, clock, pings, signal, storeIsBack } = openGate()
  storeIsBack()
  const pauseAfterFailure = async (): Promise<number> => {
    const before = clock.monotonicMs()
    gate.close(new Error('lost'), signal)
    while (!gate.isOpen) await clock.advance(50)
    return (pings.at(-1) as number) - before
  }
  expect([await pauseAfterFailure(), await pauseAfterFailure(), await pauseAfterFailure()]).toEqual([100, 200, 400])
  gate.worked()
  expect(await pauseAfterFailure()).toBe(100)
})

test('stopping ends the waiting and the asking', async () => {
  const { gate, clock, pings, signal, stop } = openGate()
  gate.close(new Error('lost'), signal)
  const waiting = gate.open(signal)
  stop()
  await waiting
  await clock.advance(60_000)
  expect(pings).toEqual([])
  expect(clock.waiting()).toBe(0)
})
