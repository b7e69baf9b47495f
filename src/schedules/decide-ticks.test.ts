import { expect, test } from 'vitest'
import type { ScheduleState } from '../facts/schedule-facts.ts'
import { decideTicks, type Missed, mostMissed } from './decide-ticks.ts'

const hour = 3_600_000
const noon = Date.parse('2026-11-18T12:00Z')
const own = (missed: Missed = 'last') => {
  return { name: 'n', type: 't', times: 'hourly', timing: { kind: 'every', everyMs: hour } as const, missed }
}
const known = (since: number, times = 'hourly'): ScheduleState => {
  return { name: 'n', type: 't', times, since, last: since, next: since + hour }
}
const at = (now: number, isNew = false) => ({ now, isNew })

test('what nobody knows begins now, without a message', () => {
  expect(decideTicks(own('all'), undefined, at(noon + 5))).toMatchObject({
    kind: 'advance',
    ticks: [],
    state: { since: noon + 5, last: undefined, next: noon + hour },
  })
})

test('before its tick it waits for it, and at its tick it makes it', () => {
  expect(decideTicks(own(), known(noon), at(noon + hour - 1))).toEqual({ kind: 'wait', until: noon + hour })
  expect(decideTicks(own(), known(noon), at(noon + hour))).toEqual({
    kind: 'advance',
    ticks: [noon + hour],
    areMissed: false,
    state: { ...known(noon + hour) },
  })
})

test.for([
  ['skip', 30_000, [5], false],
  ['skip', 61_000, [], true],
  ['last', 61_000, [5], true],
  ['all', 61_000, [1, 2, 3, 4, 5], true],
] as const)('with %s, %i ms after the last of five missed ticks', ([missed, lateMs, ticks]) => {
  const decision = decideTicks(own(missed), known(noon), at(noon + 5 * hour + lateMs))
  expect(decision).toMatchObject({
    kind: 'advance',
    ticks: ticks.map((n) => noon + n * hour),
    areMissed: true,
    state: { since: noon + 5 * hour, next: noon + 6 * hour },
  })
})

test.for(['skip', 'last', 'all'] as const)(
  'with %s, ticks of every second are reported after an outage of weeks',
  (missed) => {
    const often = { ...own(missed), timing: { kind: 'every', everyMs: 1_000 } as const }
    expect(decideTicks(often, known(noon), at(noon + 400 * hour))).toMatchObject({ kind: 'advance', areMissed: true })
    expect(decideTicks(often, known(noon), at(noon + 3_000))).toMatchObject({ kind: 'advance', areMissed: false })
  },
)

test('of more missed ticks than anybody wants, the latest are made', () => {
  const now = noon + 5_000 * hour
  const decision = decideTicks(own('all'), known(noon), at(now))
  const ticks = decision.kind === 'advance' ? decision.ticks : []
  expect([ticks.length, ticks[0], ticks.at(-1)]).toEqual([mostMissed, now - (mostMissed - 1) * hour, now])
})

test('with other times, who is started last counts, and the others step in when it is gone', () => {
  const theirs = known(noon, 'daily')
  expect(decideTicks(own(), theirs, at(noon + 5, true))).toMatchObject({
    kind: 'advance',
    ticks: [],
    state: { times: 'hourly' },
  })
  expect(decideTicks(own(), theirs, at(noon + hour + 119_000))).toEqual({ kind: 'wait', until: noon + hour + 120_000 })
  expect(decideTicks(own(), theirs, at(noon + hour + 120_001))).toMatchObject({ kind: 'advance', ticks: [] })
})

test('a clock that was put back a little repeats no tick, and one that was a year ahead does not silence the schedule', () => {
  expect(decideTicks(own(), known(noon), at(noon - 5_000))).toEqual({ kind: 'wait', until: noon + hour })
  expect(decideTicks(own(), known(noon + 400 * 24 * hour), at(noon + 5))).toMatchObject({
    kind: 'advance',
    ticks: [],
    state: { since: noon + 5, next: noon + hour },
  })
})
