import type { StoredParkedMessage } from '../contracts/index.ts'
import { judge } from '../engine/recovery/failure-policy.ts'
import { isDidNotHappen, isPermanentError } from '../errors/index.ts'
import type { Effect } from './effect.ts'

/** What happens to an intent after an attempt, a probe or a death. */
export type Verdict =
  | { readonly kind: 'done'; readonly result: string | undefined }
  /** It did not happen and is called again. */
  | { readonly kind: 'failed'; readonly delayMs: number; readonly error: unknown }
  /** Nobody knows whether it happened: it is called again with the same key, or the provider is asked. */
  | { readonly kind: 'unknown'; readonly next: 'again' | 'probe'; readonly delayMs: number; readonly error: unknown }
  /** A person must decide. */
  | { readonly kind: 'person'; readonly error: unknown }
  /** It did not happen, and is not tried any more. */
  | { readonly kind: 'given-up'; readonly error: unknown }
  /** Nobody knows whether it happened, and its effect says that it is given up then. */
  | { readonly kind: 'discarded'; readonly error: unknown }

/** What is known about the intent before this. */
export interface Known {
  /** Including the one that has just ended. */
  readonly attempts: number
  /** An earlier attempt may have happened, and nothing has settled it since. */
  readonly wasUnknown: boolean
}

/** After an attempt that has thrown. Only `DidNotHappen` proves that nothing has changed outside. */
export function afterThrow(effect: Effect, known: Known, error: unknown, random: number): Verdict {
  if (isDidNotHappen(error)) return afterNothing(effect, known, error, random)
  if (effect.remedy !== 'repeat') return afterUnknown(effect, known.attempts, error)
  // A provider that honours the key would have returned the result if an earlier attempt had happened.
  if (isPermanentError(error)) return { kind: 'given-up', error }
  const { state, delayMs } = judge(error, effect.retry, known.attempts - 1, random)
  return state === 'dead' ? { kind: 'person', error } : { kind: 'unknown', next: 'again', delayMs, error }
}

/** A year. No database can hold every number as a time. */
const longestDelayMs = 365 * 86_400_000

function afterNothing(
  effect: Effect,
  { attempts, wasUnknown }: Known,
  error: Error & { readonly permanent: boolean; readonly delayMs: number | undefined },
  random: number,
): Verdict {
  const judged = judge(error, effect.retry, attempts - 1, random)
  const isOver = error.permanent || judged.state === 'dead'
  // This attempt did nothing. Whether an earlier one did is still unknown.
  if (wasUnknown && isOver) return { kind: 'person', error }
  if (isOver) return { kind: 'given-up', error }
  const delayMs = Math.min(error.delayMs ?? judged.delayMs, longestDelayMs)
  return wasUnknown ? { kind: 'unknown', next: 'again', delayMs, error } : { kind: 'failed', delayMs, error }
}

/** After an attempt that began and whose end nobody has seen, or whose error proves nothing. */
export function afterUnknown(effect: Effect, attempts: number, error: unknown): Verdict {
  if (effect.remedy === 'probe') return { kind: 'unknown', next: 'probe', delayMs: effect.settleMs, error }
  if (effect.remedy === 'repeat' && attempts < effect.retry.attempts)
    return { kind: 'unknown', next: 'again', delayMs: 0, error }
  return effect.remedy === 'discard' ? { kind: 'discarded', error } : { kind: 'person', error }
}

/** How often a provider that cannot say is asked. Fewer than the error history keeps, because it is counted there. */
const mostQuestions = 12
/** "Not there" may only mean "not there yet", so one such answer is not enough. */
const denialsNeeded = 2

/** What the provider has been asked since the last attempt. */
export interface Asked {
  readonly questions: number
  /** How many of the last answers in a row were that it did not happen. */
  readonly denials: number
}

/** After the provider has said that it did not happen, or could not say. `asked` includes this answer. */
export function afterQuestion(
  effect: Effect,
  attempts: number,
  { questions, denials }: Asked,
  error: unknown,
): Verdict {
  if (denials >= denialsNeeded)
    return attempts >= effect.retry.attempts ? { kind: 'given-up', error } : { kind: 'failed', delayMs: 0, error }
  if (denials > 0 || questions < mostQuestions) {
    const delayMs = effect.settleMs * (denials > 0 ? 1 : 2 ** Math.min(questions - 1, 6))
    return { kind: 'unknown', next: 'probe', delayMs, error }
  }
  if (effect.lastRemedy === 'repeat' && attempts < effect.retry.attempts) return { kind: 'failed', delayMs: 0, error }
  return effect.lastRemedy === 'discard' ? { kind: 'discarded', error } : { kind: 'person', error }
}

/** Whether an earlier attempt of this intent may have happened. */
export function isUnknown({ reason, begun }: Pick<StoredParkedMessage, 'reason' | 'begun'>): boolean {
  return begun > 0 || reason === 'INTENT_UNKNOWN'
}
