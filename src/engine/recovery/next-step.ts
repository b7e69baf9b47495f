import type { WhyRolledBack } from './why-rolled-back.ts'

/** A transaction that was rolled back, and what is known about its content. */
export interface Trouble {
  readonly why: WhyRolledBack
  /** How often the same content was rolled back for this reason, including this time. */
  readonly times: number
  /** What was in it, if it was one message or one run; otherwise `shared`. */
  readonly of: 'shared' | Alone
  /** `shared`: the runs in whose calls it happened are known. */
  readonly isBlamed?: boolean
  /** `shared`: it had so many messages that a transaction for each of them costs far more than another one for all. */
  readonly isLarge?: boolean
  /** `shared`: it had no parts, and can have some. */
  readonly canHaveParts?: boolean
  /** The store refused one of its own statements because a permission is missing. */
  readonly isDenied?: boolean
}

/**
 * - `unknown`: it is not known to fail.
 * - `failing`: it is known to fail, and only had to be parked.
 * - `plain`: the same, with nothing in its row that a database could refuse.
 * - `last-resort`: the same, in a form that fits every database.
 */
export type Alone = 'unknown' | 'failing' | 'plain' | 'last-resort'

/**
 * - `again`: try the same again, after about this long.
 * - `in-parts`: try the same again, so that a failure rolls back only a part.
 * - `without-the-blamed`: handle the blamed messages alone, and the others without them.
 * - `each-alone`: the culprit is unknown, and only running each alone will show it.
 * - `fail`: it counts as the failure of the message, which is parked.
 * - `plainly`: its row is written with texts that every database can hold.
 * - `keep`: it can be neither handled nor parked: the last resort.
 * - `let-go`: it was no longer in its queue, so another process has dealt with it; unless it is there after all.
 * - `hold`: another process has it; it is retried later, without counting an attempt.
 * - `stick`: it is reported and retried later, after a growing pause.
 */
export type Step =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'in-parts' | 'without-the-blamed' | 'each-alone' }
  | { readonly kind: 'fail' | 'plainly' | 'keep' | 'hold' | 'stick' | 'let-go' }

export interface StepOptions {
  /** How many conflicts in a row of one message count as a failed attempt. */
  readonly conflictsPerAttempt: number
}

/** How often a message may lose its connection while alone before that counts as its failure. */
const lossesPerAttempt = 3

/** Claiming again waits for our own lost transaction and shows whether it committed. */
const lostCommitsTogether = 3

/** How often a large batch may collide before each of its messages runs alone. Whoever was faster may have committed by then. */
const conflictsTogether = 2

/** Decides what to do after a transaction was rolled back. */
export function nextStep(trouble: Trouble, options: StepOptions): Step {
  return trouble.of === 'shared' ? nextOfMany(trouble) : nextOfOne(trouble, trouble.of, options)
}

function nextOfMany({ why, times, isBlamed, isLarge, canHaveParts }: Trouble): Step {
  if (why === 'commit-unknown' && times <= lostCommitsTogether) return { kind: 'again', afterMs: 0 }
  if (isBlamed) return { kind: 'without-the-blamed' }
  if (why === 'conflict' && isLarge && times < conflictsTogether) return { kind: 'again', afterMs: 0 }
  if (why === 'connection-lost' && times < lossesPerAttempt) return { kind: 'again', afterMs: pauseMs(why, times) }
  if (why === 'failure' && canHaveParts) return { kind: 'in-parts' }
  return { kind: 'each-alone' }
}

function nextOfOne({ why, times, isDenied }: Trouble, known: Alone, { conflictsPerAttempt }: StepOptions): Step {
  if (why === 'gone') return { kind: 'let-go' }
  const isLastResort = known === 'last-resort'
  if (why === 'held' && !isDenied && !isLastResort) return { kind: 'hold' }
  const most = why === 'connection-lost' ? lossesPerAttempt : conflictsPerAttempt
  if (isPassing(why) && times < most) return { kind: 'again', afterMs: pauseMs(why, times) }
  if (isDenied || isLastResort) return { kind: 'stick' }
  if (why === 'unkeepable') return { kind: 'keep' }
  if (known === 'unknown') return { kind: 'fail' }
  if (isPassing(why) && why !== 'connection-lost') return { kind: 'hold' }
  return { kind: why === 'failure' && known === 'failing' ? 'plainly' : 'keep' }
}

/** Whether the same thing is worth another try, because it need not fail again. */
function isPassing(why: WhyRolledBack): boolean {
  return why === 'conflict' || why === 'commit-unknown' || why === 'connection-lost'
}

function pauseMs(why: WhyRolledBack, times: number): number {
  return why === 'connection-lost' ? 25 * 4 ** times : 2 ** Math.min(times, 6)
}
