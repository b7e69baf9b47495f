import { expect, test } from 'vitest'
import type { JustonceEvent } from '../../contracts/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { Breakers } from './breakers.ts'

const handler = { name: 'tag-note', breaker: { after: 3, pauseMs: 1_000 } }
const error = new Error('x')

function open() {
  const clock = fakeClock()
  const events: JustonceEvent[] = []
  const breakers = new Breakers(clock, { emit: (event) => void events.push(event), listen: () => () => {} })
  const fail = (...keys: string[]) => {
    for (const key of keys) breakers.failed(handler, key, error)
  }
  return { breakers, clock, fail, kinds: () => events.map(({ kind }) => kind) }
}

test('it opens when so many different messages in a row have failed', () => {
  const { breakers, fail, kinds } = open()
  fail('m1', 'm2', 'm2', 'm1')
  expect(breakers.admits(handler, 'm9')).toBe(true)
  fail('m3')
  expect(breakers.admits(handler, 'm9')).toBe(false)
  expect(kinds()).toEqual(['breaker-opened'])
})

test('a success in between begins the row anew', () => {
  const { breakers, fail } = open()
  fail('m1', 'm2')
  breakers.succeeded(handler)
  fail('m3', 'm4')
  expect(breakers.admits(handler, 'm9')).toBe(true)
})

test('after its pause one message is let through, as often as it asks; the pause doubles', async () => {
  const { breakers, fail, clock } = open()
  fail('m1', 'm2', 'm3')
  await clock.advance(999)
  expect(breakers.waitMs(handler)).toBe(1)
  expect(breakers.admits(handler, 'm4')).toBe(false)
  await clock.advance(1)
  expect(breakers.waitMs(handler)).toBe(0)
  expect([breakers.admits(handler, 'm4'), breakers.admits(handler, 'm5'), breakers.admits(handler, 'm4')]).toEqual([
    true,
    false,
    true,
  ])
  fail('m4')
  expect(breakers.admits(handler, 'm4')).toBe(false)
  expect(breakers.waitMs(handler)).toBe(2_000)
  await clock.advance(2_000)
  expect(breakers.admits(handler, 'm5')).toBe(true)
  expect(breakers.waitMs(handler)).toBe(4_000)
})

test('one that is refused for good is neither a failure nor a success: the next one is let through at once', async () => {
  const { breakers, fail, clock } = open()
  fail('m1', 'm2')
  breakers.refused(handler, 'm2')
  fail('m3')
  expect(breakers.admits(handler, 'm4')).toBe(false)
  await clock.advance(1_000)
  expect(breakers.admits(handler, 'm4')).toBe(true)
  breakers.refused(handler, 'm5')
  expect(breakers.admits(handler, 'm6')).toBe(false)
  breakers.refused(handler, 'm4')
  expect([breakers.admits(handler, 'm6'), breakers.admits(handler, 'm7')]).toEqual([true, false])
})

test('the first success closes it', async () => {
  const { breakers, fail, clock, kinds } = open()
  fail('m1', 'm2', 'm3')
  await clock.advance(1_000)
  breakers.admits(handler, 'm4')
  breakers.succeeded(handler)
  expect(breakers.admits(handler, 'm5')).toBe(true)
  expect(breakers.waitMs(handler)).toBe(0)
  expect(kinds()).toEqual(['breaker-opened', 'breaker-closed'])
})

test('the pause has an end: a minute', async () => {
  const { breakers, fail, clock } = open()
  fail('m1', 'm2', 'm3')
  for (let trials = 0; trials < 20; trials++) {
    await clock.advance(breakers.waitMs(handler))
    expect(breakers.admits(handler, `trial ${trials}`)).toBe(true)
    fail(`trial ${trials}`)
  }
  expect(breakers.waitMs(handler)).toBe(60_000)
})

test('each handler has its own, and one that wants none has none', () => {
  const { breakers, fail } = open()
  fail('m1', 'm2', 'm3')
  expect(breakers.admits({ name: 'another' }, 'm1')).toBe(true)
  for (const key of ['a', 'b', 'c', 'd']) breakers.failed({ name: 'free', breaker: undefined }, key, error)
  expect(breakers.admits({ name: 'free' }, 'e')).toBe(true)
})
