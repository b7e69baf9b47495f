import { isJustonceError } from '../errors/index.ts'
import type { Engine } from './engine.ts'
import { Undone } from './undone.ts'

export type WhyUndone = Undone<unknown>['reason'] | 'commit-unknown'

/** Reads from what a transaction rejected with why it did not happen. */
export function whyUndone<Tx>(engine: Engine<Tx>, error: unknown): WhyUndone {
  if (error instanceof Undone) return error.reason
  if (isJustonceError(error, 'COMMIT_UNKNOWN')) return 'commit-unknown'
  // The transaction could not even begin because of others.
  if (isJustonceError(error, 'STORE_BUSY')) return 'held'
  const trouble = engine.store.classify(error)
  return trouble === 'none' ? 'failure' : trouble
}
