import type { Clock, NewParkedMessage, StoredParkedMessage } from '../contracts/index.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { doneType, effectOf, failedType } from '../encoding/intent-name.ts'
import { packMessage } from '../encoding/packed-message.ts'
import { traceIn } from '../encoding/trace-context.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { unrouted } from '../encoding/unrouted.ts'
import { uuidv7 } from '../ids/index.ts'

/** The body of `intent.done:<effect>`. */
export interface IntentDone<Payload = unknown, Result = unknown> {
  readonly effect: string
  readonly key: string
  readonly idempotencyKey: string
  readonly payload: Payload
  /** What the effect returned, or what a person has entered. */
  readonly result?: Result
  readonly attempts: number
}

/** The body of `intent.failed:<effect>`. */
export interface IntentFailed<Payload = unknown> extends Omit<IntentDone<Payload>, 'result'> {
  /** `given-up`: it did not happen. A person may still have it called again. `discarded`: nobody will. */
  readonly state: 'given-up' | 'discarded'
  readonly error: string
}

export type IntentOutcome =
  | { readonly kind: 'done'; readonly result: string | undefined }
  | { readonly kind: 'given-up' | 'discarded'; readonly error: string }

/**
 * The outcome of an intent as a message for the handlers of this store, which has reached none of them yet. It is stored in the
 * transaction that settles the intent, so it exists exactly once, and it needs no broker. `encode` writes bodies of a type.
 */
export function outcomeMessage(
  row: Pick<StoredParkedMessage, 'handler' | 'key' | 'message'> & { readonly attempts: number },
  outcome: IntentOutcome,
  { clock, encode }: { readonly clock: Clock; encode(value: unknown, type: string): Uint8Array | undefined },
): NewParkedMessage | undefined {
  const effect = effectOf(row.handler)
  const { id: idempotencyKey = '', body, headers } = unpackLetter(row.message)
  const about = { effect, key: row.key, idempotencyKey, payload: parsed(body), attempts: row.attempts }
  const type = outcome.kind === 'done' ? doneType(effect) : failedType(effect)
  const content: IntentDone | IntentFailed =
    outcome.kind === 'done'
      ? { ...about, ...(outcome.result !== undefined && { result: JSON.parse(outcome.result) }) }
      : { ...about, state: outcome.kind, error: outcome.error }
  const encoded = encode(content, type)
  if (encoded === undefined) return undefined
  const id = uuidv7(clock.now().getTime())
  const source = row.handler
  return {
    handler: unrouted,
    // Not the id alone, which is the key of the records of its handlers.
    key: `intent ${id}`,
    messageId: id,
    type: fittedText(type),
    source,
    message: packMessage({ id, type, source, sentAt: clock.now(), headers: { ...traceIn(headers) }, body: encoded }),
    state: 'waiting',
    attempts: 0,
    reason: 'INTENT_RESULT',
    errors: '[]',
    shape: '',
    // It must not hold up the rows of its own handlers.
    step: 1_000_000,
    independent: true,
    orderKey: undefined,
    delayMs: 0,
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}
