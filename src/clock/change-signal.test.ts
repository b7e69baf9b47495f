import { expect, test } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { changeSignal } from './change-signal.ts'

test('a change between looking and waiting is not missed', async () => {
  const changed = changeSignal(fakeClock())
  const seen = changed.seen()
  changed.announce()
  expect(await changed.since(seen)).toBeUndefined()
})

test('everyone who waits is woken, and nothing is left behind', async () => {
  const clock = fakeClock()
  const changed = changeSignal(clock)
  const waits = [changed.since(changed.seen()), changed.since(changed.seen(), { ms: 1_000 })]
  changed.announce()
  await Promise.all(waits)
  expect(clock.waiting()).toBe(0)
})

test('waiting ends after its time, or with the signal', async () => {
  const clock = fakeClock()
  const changed = changeSignal(clock)
  const timed = changed.since(changed.seen(), { ms: 1_000 })
  await clock.advance(1_000)
  await timed
  const stopping = new AbortController()
  const aborted = changed.since(changed.seen(), { signal: stopping.signal, ms: 1_000 })
  stopping.abort()
  await aborted
  await changed.since(changed.seen(), { signal: stopping.signal })
  expect(clock.waiting()).toBe(0)
})
