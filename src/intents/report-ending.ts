import type { JustonceEvent } from '../contracts/index.ts'
import { effectOf, intentHandler } from '../encoding/intent-name.ts'
import type { Engine } from '../engine/engine.ts'
import { isDidNotHappen, isPermanentError } from '../errors/index.ts'
import type { Ending } from './settle-intents.ts'
import type { Verdict } from './verdict.ts'

/** Called when the ending of an attempt is committed. */
export function reportEnding<Tx>({ events, breakers, wake }: Engine<Tx>, ending: Ending): void {
  const { effect, letter, verdict } = ending
  events.emit(eventOf(ending))
  const name = intentHandler(effect.name)
  if (verdict.kind === 'done') breakers.succeeded({ name })
  else if (isRefusal(verdict)) breakers.refused({ name }, letter.key)
  else if (!ending.isAnswer) breakers.failed({ name, breaker: effect.breaker }, letter.key, verdict.error)
  // The message about it waits for its handlers.
  if (verdict.kind === 'done' || verdict.kind === 'given-up' || verdict.kind === 'discarded') wake('retries')
}

/** An answer about this call alone: whoever gave it is there. */
function isRefusal(verdict: Exclude<Verdict, { readonly kind: 'done' }>): boolean {
  const { error } = verdict
  return isDidNotHappen(error) ? error.permanent : verdict.kind === 'given-up' && isPermanentError(error)
}

function eventOf({ letter, verdict, attempts, isLate }: Ending): JustonceEvent {
  const about = { effect: effectOf(letter.handler), key: letter.key, attempts }
  switch (verdict.kind) {
    case 'done':
      return { kind: 'intent-done', ...about, isLate }
    case 'failed':
      return { kind: 'intent-failed', ...about, state: 'waiting', error: verdict.error }
    case 'given-up':
      return { kind: 'intent-failed', ...about, state: 'given-up', error: verdict.error }
    case 'unknown':
      return { kind: 'intent-unknown', ...about, next: verdict.next, error: verdict.error }
    case 'person':
    case 'discarded':
      return { kind: 'intent-unknown', ...about, next: verdict.kind, error: verdict.error }
  }
}
