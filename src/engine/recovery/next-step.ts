import type { WhyUndone } from './why-undone.ts'

/** A transaction that was rolled back, and what is known of what was in it. */
export interface Trouble {
  readonly why: WhyUndone
  /** How often the same was rolled back for this reason, this time included. */
  readonly times: number
  /** What was in it, if it was one message, or one run of it; otherwise `shared`. */
  readonly of: 'shared' | Alone
  /** `shared`: the one or those in whose calls it happened are known. */
  readonly isBlamed?: boolean
  /** `shared`: it had no parts, and can have some. */
  readonly canHaveParts?: boolean
  /** The store has refused one of its own statements: a right is missing. */
  readonly isDenied?: boolean
}

/**
 * - `unknown`: nothing is known against it.
 * - `failing`: it is known to fail, and was only to be parked.
 * - `plain`: the same, with nothing in its row that a database could refuse.
 * - `last-resort`: the same, in a form that fits every database.
 */
export type Alone = 'unknown' | 'failing' | 'plain' | 'last-resort'

/**
 * - `again`: the same once more, after about so long.
 * - `in-parts`: the same once more, so that a failure rolls back only a part.
 * - `without-the-blamed`: those alone, and the others without them.
 * - `each-alone`: nobody knows who it was, and only that will tell.
 * - `fail`: it counts as the failure of the message, which is parked.
 * - `plainly`: its row is written with texts that every database can hold.
 * - `keep`: it can be neither handled nor parked: the last resort.
 * - `hold`: a rival has it; it is tried later, and nothing is held against it.
 * - `stick`: it is tried later, after a pause that grows, and reported.
 */
export type Step =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'in-parts' | 'without-the-blamed' | 'each-alone' }
  | { readonly kind: 'fail' | 'plainly' | 'keep' | 'hold' | 'stick' }

export interface StepOptions {
  /** Conflicts of one message in a row before they count as a failed attempt. */
  readonly conflictsPerAttempt: number
}

/** How often a message may lose its connection, alone, before that is its failure. */
const lossesPerAttempt = 3

/** Claiming again waits for our own lost transaction and finds out what became of it. */
const lostCommitsTogether = 3

/** What is done next about a transaction that was rolled back. */
export function nextStep(trouble: Trouble, options: StepOptions): Step {
  return trouble.of === 'shared' ? nextOfMany(trouble) : nextOfOne(trouble, trouble.of, options)
}

function nextOfMany({ why, times, isBlamed, canHaveParts }: Trouble): Step {
  if (why === 'commit-unknown' && times <= lostCommitsTogether) return { kind: 'again', afterMs: 0 }
  if (isBlamed) return { kind: 'without-the-blamed' }
  if (why === 'connection-lost' && times < lossesPerAttempt) return { kind: 'again', afterMs: pauseMs(why, times) }
  if (why === 'failure' && canHaveParts) return { kind: 'in-parts' }
  return { kind: 'each-alone' }
}

function nextOfOne({ why, times, isDenied }: Trouble, known: Alone, { conflictsPerAttempt }: StepOptions): Step {
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

/** Worth another try of the same thing, which need not fail again. */
function isPassing(why: WhyUndone): boolean {
  return why === 'conflict' || why === 'commit-unknown' || why === 'connection-lost'
}

function pauseMs(why: WhyUndone, times: number): number {
  return why === 'connection-lost' ? 25 * 4 ** times : 2 ** Math.min(times, 6)
}
