import type { Redrive, RedriveProgress } from '../operations/index.ts'

export type ReleaseDecision =
  | { readonly kind: 'release'; readonly count: number; readonly isPaced: boolean }
  | { readonly kind: 'wait' }
  /** Waits for running attempts, which do not take long. */
  | { readonly kind: 'wait-for-attempts' }
  | { readonly kind: 'end'; readonly state: 'finished' | 'stopped' }

/** The most that one transaction releases. */
export const mostAtOnce = 1_000
/** The most that may wait for their attempts: with more, a failure would be seen too late. */
export const mostUntried = 3_000

/**
 * Decides what to do with a redrive now. Everything it needs is in rows and in the database's clock, so that every
 * process reaches the same decision.
 * `roundMs` is the time between two looks of one driver. It never releases more at once than that time allows, so that
 * time without a driver, or during a canary, is not made up for in one burst.
 */
export function decideRelease(
  redrive: Pick<Redrive, 'selected' | 'canary' | 'perSecond' | 'stopAfterFailures' | 'startedAt'>,
  { unreleased, untried, failed }: RedriveProgress,
  now: Date,
  roundMs: number,
): ReleaseDecision {
  const released = redrive.selected - unreleased
  const isCanary = redrive.canary > 0 && released <= redrive.canary
  if (failed > (isCanary ? 0 : redrive.stopAfterFailures)) return { kind: 'end', state: 'stopped' }
  if (unreleased === 0) return untried === 0 ? { kind: 'end', state: 'finished' } : { kind: 'wait' }
  if (isCanary && released < redrive.canary) return release(redrive.canary - released, unreleased)
  if (isCanary && untried > 0) return { kind: 'wait' }
  if (redrive.perSecond === undefined) {
    const room = mostUntried - untried
    return room < mostAtOnce && room < unreleased ? { kind: 'wait-for-attempts' } : release(room, unreleased)
  }
  const seconds = Math.max(0, now.getTime() - redrive.startedAt.getTime()) / 1_000
  const due = Math.floor(seconds * redrive.perSecond) + 1 - released
  const inOneRound = Math.max(1, Math.ceil((redrive.perSecond * roundMs) / 1_000))
  const count = Math.min(due, inOneRound, unreleased)
  return count <= 0 ? { kind: 'wait' } : { kind: 'release', count, isPaced: true }
}

function release(wanted: number, unreleased: number): ReleaseDecision {
  const count = Math.min(wanted, unreleased, mostAtOnce)
  return count <= 0 ? { kind: 'wait' } : { kind: 'release', count, isPaced: false }
}
