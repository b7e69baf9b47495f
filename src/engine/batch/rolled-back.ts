import type { Run } from '../items.ts'

/**
 * Thrown out of a transaction to roll it back.
 * - `failure`: a run failed and could not be rolled back on its own.
 * - `culprit`: a run left the connection in a state that nothing else may share (a timeout, calls still open).
 * - `held`: another process holds a claim and does not finish; nothing has run.
 * - `unrecorded`: the store refused to write what it keeps besides the effects, perhaps for every message.
 * - `unkeepable`: a message that must wait for its turn cannot be parked.
 * - `conflict`: the store chose this transaction as the victim of a conflict, and a handler saw it.
 * - `unavailable`: a statement of a handler failed as if the store were unavailable.
 */
export class RolledBack<Tx> extends Error {
  readonly reason: 'failure' | 'culprit' | 'held' | 'unrecorded' | 'unkeepable' | 'conflict' | 'unavailable'
  /** The runs in whose calls it happened, if known. */
  readonly runs: readonly Run<Tx>[]
  /** No handler had been called before in this transaction, so no other message contributed to the failure. */
  wasAlone = false
  /** Each of the runs failed by itself; it was not one call with all of them. */
  areEach = false
  /** Their statements were mixed with those of others, so they have not failed before they fail alone. */
  wasMixed = false

  constructor(reason: RolledBack<Tx>['reason'], cause: unknown, runs: readonly Run<Tx>[] = []) {
    super(`rolled back: ${reason}`, { cause })
    this.name = 'RolledBack'
    this.reason = reason
    this.runs = runs
  }
}

/** The original error. */
export function unwrapped(error: unknown): unknown {
  return error instanceof RolledBack ? error.cause : error
}
