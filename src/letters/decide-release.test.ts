import { expect, test } from 'vitest'
import type { Redrive, RedriveProgress } from '../operations/index.ts'
import { decideRelease, type ReleaseDecision } from './decide-release.ts'

const startedAt = new Date('2030-01-01T00:00:00Z')
const finished: ReleaseDecision = { kind: 'end', state: 'finished' }
const stopped: ReleaseDecision = { kind: 'end', state: 'stopped' }
const wait: ReleaseDecision = { kind: 'wait' }
const release = (count: number): ReleaseDecision => ({ kind: 'release', count, paceFrom: undefined })
const paced = (count: number): ReleaseDecision => ({ kind: 'release', count, paceFrom: expect.any(Date) })

interface Row {
  readonly name: string
  readonly settings?: Partial<Pick<Redrive, 'selected' | 'canary' | 'perSecond' | 'stopAfterFailures'>>
  readonly progress: Partial<RedriveProgress>
  readonly seconds?: number
  readonly roundMs?: number
  readonly decision: ReleaseDecision
}

const table: readonly Row[] = [
  { name: 'nothing released: all of a small one at once', progress: { unreleased: 20 }, decision: release(20) },
  {
    name: 'a large one in thousands',
    settings: { selected: 5_000 },
    progress: { unreleased: 5_000 },
    decision: release(1_000),
  },
  {
    name: 'a large one goes on while others are untried',
    settings: { selected: 5_000 },
    progress: { unreleased: 3_500, untried: 1_500 },
    decision: release(1_000),
  },
  {
    name: 'but not too far ahead of the attempts',
    settings: { selected: 9_000 },
    progress: { unreleased: 5_000, untried: 2_500 },
    decision: { kind: 'wait-for-attempts' },
  },
  { name: 'all released, some untried: they are awaited', progress: { untried: 1 }, decision: wait },
  { name: 'all tried: it is finished', progress: {}, decision: finished },
  { name: 'all tried, some failed: it is finished, too', progress: { failed: 10 }, decision: finished },
  { name: 'nothing was ever in it', settings: { selected: 0 }, progress: {}, decision: finished },
  { name: 'as many failures as are allowed', progress: { unreleased: 5, failed: 10 }, decision: release(5) },
  { name: 'one failure more than allowed', progress: { unreleased: 5, failed: 11 }, decision: stopped },
  { name: 'too many failures, nothing left to hold back', progress: { failed: 11 }, decision: stopped },
  {
    name: 'no failure is allowed',
    settings: { stopAfterFailures: 0 },
    progress: { unreleased: 5, failed: 1 },
    decision: stopped,
  },
  { name: 'the canary goes first', settings: { canary: 3 }, progress: { unreleased: 20 }, decision: release(3) },
  {
    name: 'a canary that was released in part is completed',
    settings: { canary: 3 },
    progress: { unreleased: 19, untried: 1 },
    decision: release(2),
  },
  {
    name: 'a canary larger than a transaction comes in parts',
    settings: { selected: 5_000, canary: 1_500 },
    progress: { unreleased: 5_000 },
    decision: release(1_000),
  },
  {
    name: 'while one of the canary is untried, the others wait',
    settings: { canary: 3 },
    progress: { unreleased: 17, untried: 1 },
    decision: wait,
  },
  {
    name: 'one of the canary has failed, whatever else is allowed',
    settings: { canary: 3 },
    progress: { unreleased: 17, failed: 1 },
    decision: stopped,
  },
  {
    name: 'one of the canary has failed while another is untried',
    settings: { canary: 3 },
    progress: { unreleased: 17, untried: 1, failed: 1 },
    decision: stopped,
  },
  {
    name: 'the canary has succeeded: the others follow',
    settings: { canary: 3 },
    progress: { unreleased: 17 },
    decision: release(17),
  },
  {
    name: 'after the canary failures are counted as ever',
    settings: { canary: 3 },
    progress: { unreleased: 10, failed: 10 },
    decision: release(10),
  },
  {
    name: 'a canary of more than there are',
    settings: { canary: 50 },
    progress: { unreleased: 20 },
    decision: release(20),
  },
  { name: 'that has succeeded', settings: { canary: 50 }, progress: {}, decision: finished },
  { name: 'that has failed', settings: { canary: 50 }, progress: { failed: 1 }, decision: stopped },
  { name: 'paced: one at the start', settings: { perSecond: 5 }, progress: { unreleased: 20 }, decision: paced(1) },
  {
    name: 'paced: what a second brings',
    settings: { perSecond: 5 },
    progress: { unreleased: 19 },
    seconds: 1,
    decision: paced(5),
  },
  {
    name: 'paced: nothing before its time',
    settings: { perSecond: 0.5 },
    progress: { unreleased: 19 },
    seconds: 1.9,
    decision: wait,
  },
  {
    name: 'paced: less than one a second',
    settings: { perSecond: 0.5 },
    progress: { unreleased: 19 },
    seconds: 2,
    decision: paced(1),
  },
  {
    name: 'paced: time without a driver is not made up for at once',
    settings: { perSecond: 5 },
    progress: { unreleased: 19 },
    seconds: 3_600,
    decision: paced(5),
  },
  {
    name: 'paced: a driver that looks more often releases less at a time',
    settings: { perSecond: 50 },
    progress: { unreleased: 19 },
    seconds: 3_600,
    roundMs: 100,
    decision: paced(5),
  },
  {
    name: 'paced: what belongs to a round, however much',
    settings: { selected: 9_000, perSecond: 4_000 },
    progress: { unreleased: 9_000 },
    seconds: 1,
    decision: paced(4_000),
  },
  {
    name: 'paced: no more than there are',
    settings: { perSecond: 5 },
    progress: { unreleased: 2 },
    seconds: 60,
    decision: paced(2),
  },
  {
    name: 'paced: a canary does not wait for the pace',
    settings: { canary: 3, perSecond: 1 },
    progress: { unreleased: 20 },
    decision: release(3),
  },
  {
    name: 'paced: what a canary has taken in advance is waited for',
    settings: { canary: 3, perSecond: 1 },
    progress: { unreleased: 17 },
    seconds: 2,
    decision: wait,
  },
  {
    name: 'paced: a clock that was set back',
    settings: { perSecond: 5 },
    progress: { unreleased: 20 },
    seconds: -60,
    decision: paced(1),
  },
]

test.each(table)('$name', ({ settings, progress, seconds = 0, roundMs = 1_000, decision }) => {
  const redrive = {
    selected: 20,
    canary: 0,
    perSecond: undefined,
    stopAfterFailures: 10,
    paceFrom: startedAt,
    ...settings,
  }
  const counted = { unreleased: 0, untried: 0, failed: 0, ...progress }
  expect(decideRelease(redrive, counted, new Date(startedAt.getTime() + seconds * 1_000), roundMs)).toEqual(decision)
})

test('a second driver that looks at the same moment finds nothing due, however long nobody has looked', () => {
  const settings = { selected: 100, canary: 0, perSecond: 3, stopAfterFailures: 10 }
  const now = new Date(startedAt.getTime() + 3_600_000)
  const progress = (unreleased: number) => ({ unreleased, untried: 0, failed: 0 })
  const first = decideRelease({ ...settings, paceFrom: startedAt }, progress(60), now, 1_000)
  expect(first).toEqual(paced(3))
  const paceFrom = (first as { paceFrom: Date }).paceFrom
  expect(decideRelease({ ...settings, paceFrom }, progress(57), now, 1_000)).toEqual(wait)
  const soon = new Date(now.getTime() + 334)
  expect(decideRelease({ ...settings, paceFrom }, progress(57), soon, 1_000)).toEqual(paced(1))
})
