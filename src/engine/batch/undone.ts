import type { Run } from '../items.ts'

/**
 * Thrown out of a transaction to have it undone.
 * - `failure`: a run failed where it could not be undone by itself.
 * - `culprit`: a run left the connection in a state that nothing else may share (a timeout, calls still open).
 * - `held`: a rival holds a claim and does not finish; nothing has run.
 * - `unrecorded`: the store has refused to write what it keeps beside the effects; perhaps for everybody.
 * - `unkeepable`: what has to wait for its turn cannot be parked.
 * - `conflict`: the store chose us as the victim of a conflict, seen by a handler.
 * - `unavailable`: a statement of a handler failed as if the store were away.
 */
export class Undone<Tx> extends Error {
  readonly reason: 'failure' | 'culprit' | 'held' | 'unrecorded' | 'unkeepable' | 'conflict' | 'unavailable'
  /** Those in whose calls it happened, where that is known. */
  readonly runs: readonly Run<Tx>[]
  /** No handler had been called before in this transaction: whatever went wrong, no other message had a part in it. */
  wasAlone = false
  /** Each of the runs has failed by itself, not one call with all of them. */
  areEach = false

  constructor(reason: Undone<Tx>['reason'], cause: unknown, runs: readonly Run<Tx>[] = []) {
    super(`undone: ${reason}`, { cause })
    this.name = 'Undone'
    this.reason = reason
    this.runs = runs
  }
}

/** What really happened. */
export function unwrapped(error: unknown): unknown {
  return error instanceof Undone ? error.cause : error
}
