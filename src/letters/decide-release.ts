import type { Redrive, RedriveProgress } from '../operations/index.ts'

export type ReleaseDecision =
  /** With the moment from which the pace counts after that, if there is one. */
  | { readonly kind: 'release'; readonly count: number; readonly paceFrom: Date | undefined }
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
 * `roundMs` is how long a look may take. It never releases more at once than that time allows: what was not released in a time
 * without a driver, or during a canary, is not made up for. Its pace then counts from now, for all processes.
 */
export function decideRelease(
  redrive: Pick<Redrive, 'selected' | 'canary' | 'perSecond' | 'stopAfterFailures'> & { readonly paceFrom: Date },
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
  return releaseInPace({ ...redrive, perSecond: redrive.perSecond, released, unreleased }, now.getTime(), roundMs)
}

interface Paced {
  readonly perSecond: number
  readonly paceFrom: Date
  readonly released: number
  readonly unreleased: number
}

function releaseInPace({ perSecond, paceFrom, released, unreleased }: Paced, now: number, roundMs: number) {
  const sinceMs = now - paceFrom.getTime()
  // Begun while the clock was ahead: its pace would stand still until the clock gets there again.
  const isFromTheFuture = sinceMs < 0
  const due = isFromTheFuture ? 1 : Math.floor((sinceMs * perSecond) / 1_000) + 1 - released
  const inOneRound = Math.max(1, Math.ceil((perSecond * roundMs) / 1_000))
  const count = Math.min(due, inOneRound, unreleased)
  if (count <= 0) return { kind: 'wait' } as const
  const isAnew = isFromTheFuture || due > inOneRound
  const from = isAnew ? new Date(now - Math.ceil(((released + count - 1) * 1_000) / perSecond)) : paceFrom
  return { kind: 'release', count, paceFrom: from } as const
}

function release(wanted: number, unreleased: number): ReleaseDecision {
  const count = Math.min(wanted, unreleased, mostAtOnce)
  return count <= 0 ? { kind: 'wait' } : { kind: 'release', count, paceFrom: undefined }
}
