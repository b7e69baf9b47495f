import { expect, onTestFinished, test } from 'vitest'
import type { JustonceEvent } from '../contracts/index.ts'
import { fakeClock } from '../testing/fake-clock.ts'
import { type Gate, Loop } from './loop.ts'

function openLoop(round: (rounds: number) => Promise<number> | number, gate?: Gate) {
  const clock = fakeClock({ random: () => 1 })
  const events: JustonceEvent[] = []
  const begunAt = clock.monotonicMs()
  const rounds: number[] = []
  const loop = new Loop({
    name: 'tests',
    clock,
    events: { emit: (event) => void events.push(event), listen: () => () => {} },
    ...(gate && { gate }),
    async round() {
      rounds.push(clock.monotonicMs() - begunAt)
      return await round(rounds.length)
    },
    afterFailure: { leastMs: 100, mostMs: 1_000 },
  })
  onTestFinished(() => loop.stop())
  return { loop, clock, events, rounds }
}

test('rounds follow each other after the pause that each asks for', async () => {
  const { loop, clock, rounds } = openLoop((count) => (count === 2 ? 0 : 300))
  loop.start()
  await clock.advance(650)
  expect(rounds).toEqual([0, 300, 300, 600])
})

test('a wake-up ends the pause, and one during a round is not lost', async () => {
  const { loop, clock, rounds } = openLoop((count) => {
    if (count === 2) loop.wake()
    return 300
  })
  loop.start()
  await clock.advance(100)
  loop.wake()
  await clock.advance(250)
  expect(rounds).toEqual([0, 100, 100])
})

test('failures are reported and make it slower, even when it is woken; a success makes it as fast as before', async () => {
  const error = new Error('no')
  const { loop, clock, rounds, events } = openLoop((count) => {
    if (count <= 6 && count !== 5) throw error
    return 50
  })
  loop.start()
  await clock.advance(60)
  loop.wake()
  await clock.advance(1_640)
  expect(rounds).toEqual([0, 100, 300, 700, 1_500, 1_550, 1_650, 1_700])
  expect(events).toEqual(Array.from({ length: 5 }, () => ({ kind: 'loop-failed', loop: 'tests', error })))
})

test('while the gate is closed there are no rounds, and what has closed it is not reported twice', async () => {
  const { promise: isUp, resolve: open } = Promise.withResolvers<void>()
  let isClosed = false
  const gate: Gate = {
    open: () => (isClosed ? isUp : Promise.resolve()),
    closesFor: () => {
      isClosed = true
      return true
    },
  }
  const { loop, clock, rounds, events } = openLoop((count) => {
    if (count === 1) throw new Error('the store is down')
    return 10_000
  }, gate)
  loop.start()
  await clock.advance(5_000)
  expect(rounds).toEqual([0])
  expect(events).toEqual([])
  open()
  await clock.advance(0)
  expect(rounds).toEqual([0, 5_000])
})

test('stopping waits for the round that is running, and ends a pause', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  const { loop, clock, rounds } = openLoop(() => promise)
  loop.start()
  await clock.advance(0)
  let hasStopped = false
  const stopped = loop.stop().then(() => {
    hasStopped = true
  })
  await clock.advance(1_000)
  expect(hasStopped).toBe(false)
  resolve(60_000)
  await stopped
  expect(rounds).toEqual([0])
  expect(clock.waiting()).toBe(0)
})
