import type { Clock, StoredParkedMessage } from '../contracts/index.ts'
import { addErrorNote } from '../encoding/error-notes.ts'
import { JustonceError, whatWasGiven } from '../errors/index.ts'
import { callWithin } from './call.ts'
import type { Effect, ProbeAnswer } from './effect.ts'
import { addQuestion, askedIn } from './history.ts'
import type { ReadIntent } from './intent-row.ts'
import { afterQuestion, type Verdict } from './verdict.ts'

export interface Answered {
  readonly verdict: Verdict | { readonly kind: 'happened'; readonly result: unknown }
  /** The error history after it. */
  readonly errors: string
}

/** Asks the provider whether a call happened whose outcome is unknown, and decides what follows. Never rejects. */
export async function askProvider(
  clock: Clock,
  effect: Effect,
  { attempts, errors: history }: StoredParkedMessage,
  { intent, idempotencyKey, trace }: ReadIntent,
): Promise<Answered> {
  const what = `The probe of the effect ${effect.name} for ${intent.key}`
  // Read in there as well: an answer may throw when it is looked at, and that says as little as a probe that throws.
  const { outcome } = await callWithin(clock, { what, timeoutMs: effect.timeoutMs }, async (signal) =>
    answerIn(what, await effect.probe?.(intent, { idempotencyKey, trace, signal })),
  )
  const at = clock.now()
  const answer = outcome.kind === 'returned' ? (outcome.value as ProbeAnswer) : undefined
  if (answer?.status === 'happened') {
    const note = new Error('The provider says that it happened.')
    return { verdict: { kind: 'happened', result: answer.result }, errors: addErrorNote(history, note, at) }
  }
  const denied = answer?.status === 'did-not-happen'
  const error = denied
    ? new Error('The provider says that it did not happen.')
    : new Error('The provider cannot say whether it happened.', {
        cause: outcome.kind === 'threw' ? outcome.error : undefined,
      })
  const errors = addQuestion(history, denied ? 'denied' : 'unclear', error, at)
  return { verdict: afterQuestion(effect, attempts, askedIn(errors), error), errors }
}

/** Throws if it is no answer. */
function answerIn(what: string, value: unknown): ProbeAnswer {
  const { status, result } = (value ?? {}) as { readonly status?: unknown; readonly result?: unknown }
  if (status === 'happened') return { status, result }
  if (status === 'did-not-happen' || status === 'unknown') return { status }
  throw new JustonceError('OPTION_INVALID', {
    message: `${what} answered ${whatWasGiven(value)}, not { status: 'happened' | 'did-not-happen' | 'unknown' }.`,
  })
}
