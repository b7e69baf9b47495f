import type { Cause, Codec, Due, Headers, PublishedMessage } from '../../contracts/index.ts'
import { checkNumber, checkOptions, JustonceError } from '../../errors/index.ts'
import { derivedId, timeOfUuidV7, uuidv7 } from '../../ids/index.ts'
import type { PublishOptions } from '../handler.ts'
import { type BusinessIdOf, businessIdIn, type MessageOfBusiness } from '../intake/business-id.ts'
import { checkKey } from '../intake/check-envelope.ts'
import { encodeBody } from './encode-body.ts'

/** How many messages of each type a run has published so far. */
export type OrdinalIds = Map<string, number>

/** The run that publishes or intends something. */
export interface PublishingCause {
  readonly handler: { readonly name: string }
  readonly key: string
  /** The call has many messages, and the key is that of the first. */
  readonly isOfMany?: boolean | undefined
  /** The only message of the call. */
  readonly message?: MessageOfBusiness | undefined
}

export interface OutgoingRequest {
  readonly type: string
  readonly body: unknown
  readonly options?: PublishOptions | undefined
  /** The run that publishes it, if any. */
  readonly cause?: PublishingCause
  readonly businessIdOf?: BusinessIdOf | undefined
  readonly ids?: OrdinalIds | undefined
  /** The cause may happen twice, so the id is derived from it instead of generated. */
  readonly weak?: boolean
  readonly now: Date
  readonly codec?: Codec | undefined
}

/** Every store can hold a time before it. */
const latestMs = Date.UTC(3000, 0)
/** Ten years. A longer delay is a mistake in the unit. */
const longestDelayMs = 10 * 366 * 86_400_000

export function encodeOutgoing(request: OutgoingRequest): PublishedMessage {
  const { type, body, options, now, codec } = request
  if (options !== undefined) checkPublishOptions(options)
  const bytes = typeof type === 'string' && type !== '' ? encodeBody(body, type, codec) : undefined
  if (bytes === undefined) {
    throw new JustonceError('OPTION_INVALID', {
      message: `publish(${JSON.stringify(type)}, …) needs a type and a body that JSON can hold; the body is ${typeof body}.`,
    })
  }
  const due = dueOf(options)
  // Its age counts from then: neither its expiry nor the time in its id may pass while it waits.
  const sentAt = timeOf(due, now)
  const id = options?.id ?? outgoingId(request, due, sentAt)
  checkKey(id, 'The id of a message to publish')
  const { headers = {}, key, expiresAt } = options ?? {}
  const message: PublishedMessage = {
    ...{ id, type, body: bytes, headers: withContentType(headers, codec), key, sentAt, expiresAt },
    ...(request.cause !== undefined && { causedBy: causeOf(request.cause) }),
    ...(request.businessIdOf !== undefined && { businessId: businessIdOf(request, id) }),
  }
  return due === undefined ? message : { ...message, due }
}

export function causeOf({ handler, key, isOfMany, message }: PublishingCause): Cause {
  if (isOfMany) return { handler: handler.name }
  const id = message?.id
  return { handler: handler.name, key, ...(id !== undefined && id !== key && { messageId: id }) }
}

/** Its own, or that of the message that caused it. */
function businessIdOf({ businessIdOf: of, type, body, options, cause }: OutgoingRequest, id: string) {
  const { headers = {}, key } = options ?? {}
  const own = businessIdIn(of, { id, type, body, headers, key })
  return own ?? (cause?.message && businessIdIn(of, cause.message))
}

function withContentType(headers: Headers, codec: Codec | undefined): Headers {
  if (codec?.contentType === undefined) return headers
  const isSaid = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return isSaid ? headers : { ...headers, 'content-type': codec.contentType }
}

/** `undefined` if it leaves at once. */
function dueOf({ delayMs = 0, at }: PublishOptions = {}): Due | undefined {
  if (at !== undefined) return { at: new Date(at) }
  return delayMs === 0 ? undefined : { delayMs }
}

function timeOf(due: Due | undefined, now: Date): Date {
  if (due === undefined) return now
  // A time that has passed means now: what leaves now is not old.
  return new Date('at' in due ? Math.max(due.at.getTime(), now.getTime()) : now.getTime() + due.delayMs)
}

function checkPublishOptions(options: PublishOptions): void {
  checkOptions(options, ['id', 'key', 'headers', 'expiresAt', 'delayMs', 'at'], 'publish()')
  const { key, headers = {}, expiresAt, delayMs, at } = options
  if (delayMs !== undefined && at !== undefined)
    throw new JustonceError('OPTION_INVALID', { message: 'publish() was given both delayMs and at: give one of them.' })
  if (delayMs !== undefined) checkNumber(delayMs, 'delayMs of publish()', 0, longestDelayMs)
  if (at !== undefined && !(at instanceof Date && Math.abs(at.getTime()) < latestMs))
    throw new JustonceError('OPTION_INVALID', {
      message: `at of publish() is ${String(at)}, not a Date before the year 3000.`,
    })
  if (key !== undefined && typeof key !== 'string') {
    throw new JustonceError('OPTION_INVALID', { message: `key of publish() is ${typeof key}, not text.` })
  }
  if (expiresAt !== undefined && !(expiresAt instanceof Date && !Number.isNaN(expiresAt.getTime()))) {
    throw new JustonceError('OPTION_INVALID', {
      message: `expiresAt of publish() is ${String(expiresAt)}, not a Date.`,
    })
  }
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') continue
    throw new JustonceError('OPTION_INVALID', {
      message: `The header ${JSON.stringify(name)} of publish() is ${typeof value}, not text.`,
    })
  }
}

function outgoingId({ cause, ids, weak, type }: OutgoingRequest, due: Due | undefined, sentAt: Date): string {
  if (!weak || cause === undefined || ids === undefined) return uuidv7(sentAt.getTime())
  const ordinal = ids.get(type) ?? 0
  ids.set(type, ordinal + 1)
  // The time comes only from the key: a producer that sends again may set a new sentAt.
  const born = timeOfUuidV7(cause.key)
  return derivedId([cause.handler.name, cause.key, type, String(ordinal)], born && timeOf(due, born))
}
