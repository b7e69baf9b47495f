import { isJustonceError } from '../../errors/index.ts'
import { RolledBack, unwrapped } from '../batch/rolled-back.ts'
import type { Engine } from '../engine.ts'
import { isDown } from './is-down.ts'
import { takesOthers } from './takes-others.ts'

/**
 * - `connection-lost`: the store seemed to be unavailable, but it answers.
 * - `gone`: a message for which something was done is no longer in its queue.
 */
export type WhyRolledBack =
  | Exclude<RolledBack<unknown>['reason'], 'unavailable' | 'unrecorded'>
  | 'commit-unknown'
  | 'connection-lost'
  | 'gone'

/**
 * Determines from the error of a transaction why it was rolled back. Rejects with that error if the store is
 * unavailable. Only unanswered pings show that, because a message can make any statement fail as if the store were
 * unavailable, every time.
 * Likewise, a write that the store refuses for one message is that message's failure only if the store accepts it for
 * others.
 */
export async function whyRolledBack<Tx>(engine: Engine<Tx>, error: unknown): Promise<WhyRolledBack> {
  const why = reasonOf(engine, error)
  if (why === 'unrecorded') return (await takesOthers(engine)) ? 'failure' : 'unkeepable'
  if (why !== 'unavailable') return why
  if (await isDown(engine)) throw unwrapped(error)
  return 'connection-lost'
}

function reasonOf<Tx>(engine: Engine<Tx>, error: unknown): RolledBack<unknown>['reason'] | 'commit-unknown' | 'gone' {
  if (error instanceof RolledBack) return error.reason
  if (isJustonceError(error, 'COMMIT_UNKNOWN')) return 'commit-unknown'
  if (isJustonceError(error, 'DELIVERY_GONE')) return 'gone'
  // The transaction could not even begin, because of other transactions.
  if (isJustonceError(error, 'STORE_BUSY')) return 'held'
  const trouble = engine.store.classify(error)
  return trouble === 'none' ? 'failure' : trouble
}
