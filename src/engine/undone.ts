import type { Run } from './work.ts'

/**
 * Thrown out of a transaction to have it undone.
 * - `failure`: a run failed where it could not be undone by itself.
 * - `culprit`: a run left the connection in a state that nothing else may share (a timeout, calls still open).
 * - `held`: a rival holds a claim and does not finish; nothing has run.
 * - `conflict`: the store chose us as the victim of a conflict, seen by a handler.
 * - `unavailable`: the store went away under a handler.
 */
export class Undone<Tx> extends Error {
  readonly reason: 'failure' | 'culprit' | 'held' | 'conflict' | 'unavailable'
  /** The culprit, where it is known. */
  readonly run: Run<Tx> | undefined

  constructor(reason: Undone<Tx>['reason'], cause: unknown, run?: Run<Tx>) {
    super(`undone: ${reason}`, { cause })
    this.name = 'Undone'
    this.reason = reason
    this.run = run
  }
}

/** What really happened. */
export function unwrapped(error: unknown): unknown {
  return error instanceof Undone ? error.cause : error
}
