import type { Headers, NewParkedMessage, TraceContext } from '../../contracts/index.ts'
import { fittedText } from '../../encoding/fit-text.ts'
import { announcedHeader, intentHandler } from '../../encoding/intent-name.ts'
import { packMessage } from '../../encoding/packed-message.ts'
import { hasUnsafeKey } from '../../encoding/unsafe-keys.ts'
import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import { derivedId, timeOfUuidV7, uuidv7 } from '../../ids/index.ts'
import { type BusinessIdOf, businessIdIn } from '../intake/business-id.ts'
import { checkKey } from '../intake/check-envelope.ts'
import { causeOf, type OrdinalIds, type PublishingCause } from '../publishing/outgoing.ts'

/** Options of an intent. */
export interface IntendOptions {
  /**
   * At most one intent of this effect with this key is ever made, whichever message asks for it. Default: a new one for each call
   * of `intend`.
   */
  readonly key?: string
  /** How long after the commit it is called. Default: immediately. */
  readonly delayMs?: number
}

/** A call outside that a transaction has decided on. */
export interface NewIntent {
  readonly row: NewParkedMessage
  /** Another transaction may intend the same, so its record is claimed first. */
  readonly isClaimed: boolean
}

export interface IntentRequest {
  readonly effect: string
  readonly payload: unknown
  readonly options?: IntendOptions | undefined
  /** The run that intends it, if any. */
  readonly cause?: PublishingCause | undefined
  readonly businessIdOf?: BusinessIdOf | undefined
  readonly ids?: OrdinalIds | undefined
  /** The cause may happen twice, and must then intend the same. */
  readonly weak?: boolean
  readonly now: Date
  readonly maxBytes: number
  /** The types of messages about its outcome that somebody wants. */
  readonly announced?: readonly string[] | undefined
  /** The trace that it belongs to. */
  readonly trace?: TraceContext | undefined
}

const encoder = new TextEncoder()
const longestDelayMs = 365 * 24 * 3_600_000

/**
 * The row of an intent. Its message id is the idempotency key, which stays the same however often it is called; its key is the
 * user's, or the same id.
 */
export function newIntent(request: IntentRequest): NewIntent {
  const { effect, options = {}, now, weak = false, announced = [], trace } = request
  checkOptions(options, ['key', 'delayMs'], 'intend()')
  const { delayMs = 0 } = options
  checkNumber(delayMs, 'delayMs of intend()', 0, longestDelayMs)
  if (options.key !== undefined) checkKey(options.key, 'The key given to intend()')
  const body = encodePayload(request)
  const id = intentId(request)
  const handler = intentHandler(effect)
  const headers: Headers = { ...trace, ...(announced.length > 0 && { [announcedHeader]: announced.join('\n') }) }
  const message = { id, type: effect, source: handler, key: options.key, sentAt: now, headers, body }
  return {
    isClaimed: options.key !== undefined || (weak && request.cause !== undefined),
    row: {
      handler,
      key: options.key ?? id,
      messageId: fittedText(id),
      type: fittedText(effect),
      // Operators find the intents of a message by it.
      source: fittedText((request.cause && causeOf(request.cause).key) ?? handler),
      businessId: request.cause?.message && businessIdIn(request.businessIdOf, request.cause.message),
      message: packMessage(message),
      state: 'waiting',
      attempts: 0,
      reason: 'INTENT_PENDING',
      errors: '[]',
      shape: '',
      step: 0,
      independent: true,
      orderKey: undefined,
      delayMs,
    },
  }
}

/** Encoded at once, so that a payload that cannot be stored is the failure of the one who gave it. */
function encodePayload({ effect, payload, maxBytes }: IntentRequest): Uint8Array {
  const text = JSON.stringify(payload) as string | undefined
  if (text === undefined)
    throw new JustonceError('OPTION_INVALID', {
      message: `intend(${JSON.stringify(effect)}, …) needs a payload that JSON can hold; it is ${typeof payload}.`,
    })
  // The handler of its outcome could not read it.
  if (hasUnsafeKey(text))
    throw new JustonceError('OPTION_INVALID', {
      message: `The payload given to intend(${JSON.stringify(effect)}, …) contains a property named __proto__.`,
    })
  const bytes = encoder.encode(text)
  if (bytes.length <= maxBytes) return bytes
  throw new JustonceError('OPTION_INVALID', {
    message: `The payload given to intend(${JSON.stringify(effect)}, …) has ${bytes.length} bytes; maxBodyBytes is ${maxBytes}.`,
  })
}

function intentId({ cause, ids, weak, effect, now }: IntentRequest): string {
  if (!weak || cause === undefined || ids === undefined) return uuidv7(now.getTime())
  const name = intentHandler(effect)
  const ordinal = ids.get(name) ?? 0
  ids.set(name, ordinal + 1)
  return derivedId([cause.handler.name, cause.key, name, String(ordinal)], timeOfUuidV7(cause.key))
}
