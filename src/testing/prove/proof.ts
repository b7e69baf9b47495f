import type { Difference } from './compare.ts'
import type { Explanation } from './explanations.ts'
import type { FailureName } from './failure-names.ts'
import type { TimelineEntry } from './journal.ts'
import type { MessageFault, Step, StepFault } from './steps.ts'

/** How an effect differs from that of one order of two messages. */
export interface OrderDifferences {
  /** The order: `p1 before p2`. */
  readonly order: string
  readonly differences: readonly Difference[]
}

/** Something wrong with a handler, with everything needed to understand and fix it. */
export interface Failure extends Explanation {
  readonly name: FailureName
  readonly handlers: readonly string[]
  /** What was done: `crash after query 2 of p1`. */
  readonly where: string
  /** What was seen, in one or a few lines. */
  readonly seen: readonly string[]
  /** What differs from the undisturbed run. */
  readonly differences: readonly Difference[]
  /**
   * Where two messages met: what differs from each of the orders in which they can be handled one after the other. If they
   * fail in the other order, there is only one. Empty for all other failures.
   */
  readonly orders: readonly OrderDifferences[]
  readonly timeline: readonly TimelineEntry[]
  /** Where else the same was seen. */
  readonly alsoAt: readonly string[]
  /** The user accepts it. */
  readonly isAllowed: boolean
}

/**
 * - `held`: the effect was the same as in the undisturbed run.
 * - `broken`: it was not; `failure` is its number in `failures`, from 1.
 * - `unreached`: the run took another path and never came to this step.
 */
export type Verdict = { readonly kind: 'held' | 'unreached' } | { readonly kind: 'broken'; readonly failure: number }

export interface ProofRow {
  readonly step: Step
  readonly verdicts: Readonly<Partial<Record<StepFault, Verdict>>>
}

/** One message: its steps, and what was done to each. */
export interface ProofTable {
  readonly messageId: string
  readonly type: string
  readonly handlers: readonly string[]
  readonly rows: readonly ProofRow[]
  readonly around: Readonly<Partial<Record<MessageFault, Verdict>>>
}

/** A check of all messages together. */
export interface OverallCheck {
  readonly title: string
  readonly verdict: Verdict | { readonly kind: 'not-applicable'; readonly reason: string }
}

/** What `prove()` has found. */
export interface Proof {
  /** Whether nothing was found except allowed failures. */
  readonly ok: boolean
  /** For people: the tables, and for each failure what happened and what to change. */
  readonly report: string
  readonly failures: readonly Failure[]
  readonly table: readonly ProofTable[]
  readonly checks: readonly OverallCheck[]
  /** What was not tested or compared, and why. */
  readonly notes: readonly string[]
  readonly runs: number
  readonly ms: number
  readonly database: string
  /** Throws with the report unless the proof is ok. For test runners. */
  assert(): void
  toJSON(): ProofJson
}

/** A proof as JSON. */
export type ProofJson = Omit<Proof, 'report' | 'assert' | 'toJSON'>
