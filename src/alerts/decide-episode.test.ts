import { expect, test } from 'vitest'
import type { AlertEpisode, AlertIdentity } from '../facts/index.ts'
import { decideEpisode } from './decide-episode.ts'

const aMinute = 60_000
const rule: AlertIdentity = { app: 'notes', rule: 'dead', when: 'dead-letters', over: 5, forMs: aMinute }

/** What becomes of a rule at these looks; the notices are given at once. */
function follow(looks: readonly (readonly [atMs: number, value: number | undefined])[], of = rule) {
  let episode: AlertEpisode | undefined
  const notices: string[] = []
  for (const [now, value] of looks) {
    episode = decideEpisode(of, episode, { value, now, mostMs: 30_000 })
    for (const { state, at } of episode?.notices ?? []) notices.push(`${state} ${at}`)
    if (episode !== undefined) episode = { ...episode, notices: [] }
  }
  return { notices, episode }
}

const every15s = (values: readonly (number | undefined)[]) =>
  values.map((value, place) => [place * 15_000, value] as const)

test('it fires when it has been over its limit for long enough, and is resolved when it no longer has been', () => {
  const values = [6, 6, 6, 6, 6, 6, 6, 5, 5, 5, 5, 5, 5]
  expect(follow(every15s(values)).notices).toEqual(['firing 60000', 'resolved 165000'])
})

test('what is over its limit for a moment, or not over it for a moment, changes nothing', () => {
  expect(follow(every15s([6, 6, 5, 6, 6, 6, 5]))).toEqual({ notices: [], episode: undefined })
  expect(follow(every15s([6, 6, 6, 6, 6, 5, 6, 5, 5, 6])).notices).toEqual(['firing 60000'])
})

test('without forMs one look is enough, and too little to say is not over any limit', () => {
  const atOnce = { ...rule, forMs: 0 }
  expect(follow(every15s([undefined, 6, undefined]), atOnce).notices).toEqual(['firing 15000', 'resolved 30000'])
})

test('a clock that jumps, and a night without processes, make nothing last longer than they were watched', () => {
  const aDay = 86_400_000
  expect(
    follow([
      [0, 6],
      [aDay, 6],
      [aDay + 15_000, 6],
    ]).notices,
  ).toEqual([])
  expect(
    follow([
      [aDay, 6],
      [0, 6],
      [15_000, 6],
      [30_000, 6],
      [45_000, 6],
      [60_000, 6],
    ]).notices,
  ).toEqual(['firing 60000'])
})

test('what could not be told is kept, also when it is over, and both ends have different ids', () => {
  const atOnce = { ...rule, forMs: 0 }
  const fired = decideEpisode(atOnce, undefined, { value: 6, now: 1, mostMs: 30_000 })
  const resolved = decideEpisode(atOnce, fired, { value: 0, now: 2, mostMs: 30_000 })
  const quiet = decideEpisode(atOnce, resolved, { value: 0, now: 3, mostMs: 30_000 })
  expect(quiet?.notices.map(({ state }) => state)).toEqual(['firing', 'resolved'])
  expect(new Set(quiet?.notices.map(({ id }) => id)).size).toBe(2)
})
