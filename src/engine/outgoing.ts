import type { OutgoingMessage } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import { derivedId, uuidv7 } from '../ids/index.ts'
import { checkKey } from './check-envelope.ts'
import type { PublishOptions } from './handler.ts'

const encoder = new TextEncoder()

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
    readonly message: { readonly sentAt?: Date | undefined }
  }
  readonly ids?: OrdinalIds
  /** The cause may happen twice, so the id is derived from it instead of made anew. */
  readonly weak?: boolean
  readonly now: Date
}

export function encodeOutgoing(request: OutgoingRequest): OutgoingMessage {
  const { type, body, options, now } = request
  const text = JSON.stringify(body)
  if (typeof type !== 'string' || type === '' || text === undefined) {
    throw new JustonceError('OPTION_INVALID', {
      message: `publish(${JSON.stringify(type)}, …) needs a type and a body that JSON can hold; the body is ${typeof body}.`,
    })
  }
  const id = options?.id ?? outgoingId(request)
  checkKey(id, 'The id of a message to publish')
  return { id, type, body: encoder.encode(text), headers: options?.headers ?? {}, key: options?.key, sentAt: now }
}

function outgoingId({ cause, ids, weak, type, now }: OutgoingRequest): string {
  if (!weak || cause === undefined || ids === undefined) return uuidv7(now.getTime())
  const ordinal = ids.get(type) ?? 0
  ids.set(type, ordinal + 1)
  return derivedId([cause.handler.name, cause.key, type, String(ordinal)], cause.message.sentAt)
}
