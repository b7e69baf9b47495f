import { isJustonceError } from '../../errors/index.ts'
import { Undone, unwrapped } from '../batch/undone.ts'
import type { Engine } from '../engine.ts'
import { takesOthers } from './takes-others.ts'

/** `connection-lost`: it looked as if the store were away, but it answers. */
export type WhyUndone =
  | Exclude<Undone<unknown>['reason'], 'unavailable' | 'unrecorded'>
  | 'commit-unknown'
  | 'connection-lost'

/**
 * Reads from what a transaction rejected with why it did not happen. Rejects with it when the store is away: that is
 * concluded from an unanswered ping alone, because a message can make any statement fail as if it were, each time anew.
 * In the same way what the store does not write for one message is that message's failure only if it does for others.
 */
export async function whyUndone<Tx>(engine: Engine<Tx>, error: unknown): Promise<WhyUndone> {
  const why = reasonOf(engine, error)
  if (why === 'unrecorded') return (await takesOthers(engine)) ? 'failure' : 'unkeepable'
  if (why !== 'unavailable') return why
  try {
    await engine.store.ping()
  } catch {
    throw unwrapped(error)
  }
  return 'connection-lost'
}

function reasonOf<Tx>(engine: Engine<Tx>, error: unknown): Undone<unknown>['reason'] | 'commit-unknown' {
  if (error instanceof Undone) return error.reason
  if (isJustonceError(error, 'COMMIT_UNKNOWN')) return 'commit-unknown'
  // The transaction could not even begin because of others.
  if (isJustonceError(error, 'STORE_BUSY')) return 'held'
  const trouble = engine.store.classify(error)
  return trouble === 'none' ? 'failure' : trouble
}
