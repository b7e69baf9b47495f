import type { Headers, IncomingMessage } from '../../contracts/index.ts'

/** A message as a test writes it: an id, a type, a body, and anything else that matters to the test. */
export interface MessageToSend {
  readonly id?: string | undefined
  readonly type?: string | undefined
  /** Bytes are sent as they are, anything else as JSON. */
  readonly body?: unknown
  readonly headers?: Headers | undefined
  readonly key?: string | undefined
  readonly sentAt?: Date | undefined
  readonly expiresAt?: Date | undefined
  /** Default: the name of the transport. */
  readonly source?: string | undefined
  readonly position?: string | undefined
}

const encoder = new TextEncoder()

export function toIncoming(message: MessageToSend, source: string): IncomingMessage {
  const { body } = message
  return {
    ...message,
    body: body instanceof Uint8Array ? body : encoder.encode(JSON.stringify(body ?? null)),
    headers: message.headers ?? {},
    source: message.source ?? source,
  }
}
