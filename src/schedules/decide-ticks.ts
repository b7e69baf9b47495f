import type { ScheduleState } from '../facts/schedule-facts.ts'
import { latestTicks, nextTick, type Timing } from './ticks.ts'

/** What becomes of ticks for which nobody was there. */
export type Missed = 'skip' | 'last' | 'all'

export interface OwnSchedule {
  readonly name: string
  readonly type: string
  readonly times: string
  readonly timing: Timing
  readonly missed: Missed
}

export type Decision =
  | { readonly kind: 'wait'; readonly until: number }
  | {
      readonly kind: 'advance'
      readonly ticks: readonly number[]
      /** Whether ticks were late, or are left out. */
      readonly areMissed: boolean
      readonly state: ScheduleState
    }

/** A tick that is made within this time is not missed: processes are restarted, and databases fail over. */
const inTimeMs = 60_000
/** A process with other times is gone if it has not made its tick for so long. */
const goneMs = 120_000
/** A schedule that is further ahead was made by a clock that was wrong. */
const aheadMs = 86_400_000
/** More messages at once would be a flood that nobody wants. */
export const mostMissed = 1_000

/** What to do about a schedule now. `isNew`: this process has not yet said that it has the schedule. */
export function decideTicks(
  own: OwnSchedule,
  known: ScheduleState | undefined,
  { now, isNew }: { readonly now: number; readonly isNew: boolean },
): Decision {
  const { name, type, times, timing, missed } = own
  const advance = (since: number, ticks: readonly number[], areMissed: boolean): Decision => {
    const last = ticks.at(-1) ?? known?.last
    const state = { name, type, times, since, last, next: nextTick(timing, since) }
    return { kind: 'advance', ticks, areMissed, state }
  }
  if (known === undefined || known.since > now + aheadMs) return advance(now, [], false)
  // In a deploy both are there for a while: the last one that was started counts, and the other one steps in if that is gone.
  if (known.times !== times)
    return isNew || now > known.next + goneMs ? advance(now, [], false) : { kind: 'wait', until: known.next + goneMs }
  const ticks = latestTicks(timing, known.since, now, missed === 'all' ? mostMissed : 2)
  const latest = ticks.at(-1)
  if (latest === undefined) return { kind: 'wait', until: nextTick(timing, Math.max(now, known.since)) }
  const isLate = now - latest > inTimeMs
  // Not only the latest ones, which are all that is known here: those before them were missed as well.
  const areMissed = now - nextTick(timing, known.since) > inTimeMs
  if (missed === 'all') return advance(latest, ticks, areMissed)
  return advance(latest, missed === 'skip' && isLate ? [] : [latest], areMissed)
}
