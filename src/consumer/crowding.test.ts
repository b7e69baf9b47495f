import { expect, test } from 'vitest'
import { Crowding } from './crowding.ts'

interface Costs {
  readonly atOnceMs: number
  readonly oneAtATimeMs: number
}

/** Runs batches of ten messages for so long. Returns which share of the messages was handled one batch at a time. */
function run(crowding: Crowding, { atOnceMs, oneAtATimeMs }: Costs, ms: number, isCrowded = true): number {
  let oneAtATime = 0
  let messages = 0
  for (let activeMs = 0; activeMs < ms; ) {
    activeMs += 10 * (crowding.isOneAtATime ? oneAtATimeMs : atOnceMs)
    messages += 10
    if (crowding.isOneAtATime) oneAtATime += 10
    crowding.ended(isCrowded, { activeMs, messages })
  }
  return oneAtATime / messages
}

test('where nobody waits, nothing is tried', () => {
  expect(run(new Crowding(), { atOnceMs: 1, oneAtATimeMs: 0.1 }, 10_000, false)).toBe(0)
})

test('where it is crowded and one batch at a time is faster, that stays', () => {
  expect(run(new Crowding(), { atOnceMs: 1, oneAtATimeMs: 0.5 }, 10_000)).toBeGreaterThan(0.9)
})

test('where it is crowded and one batch at a time is slower, it is tried more and more rarely', () => {
  expect(run(new Crowding(), { atOnceMs: 0.5, oneAtATimeMs: 1 }, 60_000)).toBeLessThan(0.02)
})

test('when the crowd is gone, it is noticed', () => {
  const crowding = new Crowding()
  run(crowding, { atOnceMs: 1, oneAtATimeMs: 0.5 }, 5_000)
  expect(crowding.isOneAtATime).toBe(true)
  expect(run(crowding, { atOnceMs: 0.1, oneAtATimeMs: 0.5 }, 60_000)).toBeLessThan(0.3)
})

test('larger batches that have just collided do not make one at a time look fast', () => {
  const crowding = new Crowding()
  const now = { activeMs: 0, messages: 0 }
  const end = (tookMs: number, isCrowded: boolean): void => {
    now.activeMs += tookMs
    now.messages += 10
    crowding.ended(isCrowded, { ...now })
  }
  for (let i = 0; i < 4; i++) end(60, false)
  while (!crowding.isOneAtATime) end(5, true)
  for (let i = 0; i < 8; i++) end(10, true)
  expect(crowding.isOneAtATime).toBe(false)
})
