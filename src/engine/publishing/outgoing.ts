import type { Codec, Headers, OutgoingMessage } from '../../contracts/index.ts'
import { checkOptions, JustonceError } from '../../errors/index.ts'
import { derivedId, timeOfUuidV7, uuidv7 } from '../../ids/index.ts'
import type { PublishOptions } from '../handler.ts'
import { checkKey } from '../intake/check-envelope.ts'
import { encodeBody } from './encode-body.ts'

/** How many messages of each type a run has published so far. */
export type OrdinalIds = Map<string, number>

export interface OutgoingRequest {
  readonly type: string
  readonly body: unknown
  readonly options?: PublishOptions | undefined
  /** The run that publishes it, if any. */
  readonly cause?: {
    readonly handler: { readonly name: string }
    readonly key: string
  }
  readonly ids?: OrdinalIds | undefined
  /** The cause may happen twice, so the id is derived from it instead of generated. */
  readonly weak?: boolean
  readonly now: Date
  readonly codec?: Codec | undefined
}

export function encodeOutgoing(request: OutgoingRequest): OutgoingMessage {
  const { type, body, options, now, codec } = request
  if (options !== undefined) checkPublishOptions(options)
  const bytes = typeof type === 'string' && type !== '' ? encodeBody(body, type, codec) : undefined
  if (bytes === undefined) {
    throw new JustonceError('OPTION_INVALID', {
      message: `publish(${JSON.stringify(type)}, …) needs a type and a body that JSON can hold; the body is ${typeof body}.`,
    })
  }
  const id = options?.id ?? outgoingId(request)
  checkKey(id, 'The id of a message to publish')
  const { headers = {}, key, expiresAt } = options ?? {}
  return { id, type, body: bytes, headers: withContentType(headers, codec), key, sentAt: now, expiresAt }
}

function withContentType(headers: Headers, codec: Codec | undefined): Headers {
  if (codec?.contentType === undefined) return headers
  const isSaid = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return isSaid ? headers : { ...headers, 'content-type': codec.contentType }
}

function checkPublishOptions(options: PublishOptions): void {
  checkOptions(options, ['id', 'key', 'headers', 'expiresAt'], 'publish()')
  const { key, headers = {}, expiresAt } = options
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

function outgoingId({ cause, ids, weak, type, now }: OutgoingRequest): string {
  if (!weak || cause === undefined || ids === undefined) return uuidv7(now.getTime())
  const ordinal = ids.get(type) ?? 0
  ids.set(type, ordinal + 1)
  // The time comes only from the key: a producer that sends again may set a new sentAt.
  return derivedId([cause.handler.name, cause.key, type, String(ordinal)], timeOfUuidV7(cause.key))
}
