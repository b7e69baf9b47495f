/**
 * A message as a transport delivers it: nothing decoded, nothing trusted. The body is kept as the bytes that arrived,
 * so that a message that cannot be handled can be stored exactly as it was.
 */
export interface IncomingMessage {
  /** The producer's id. It may be missing here; the engine then refuses the message unless the handler has `identify`. */
  readonly id?: string | undefined
  readonly type?: string | undefined
  readonly body: Uint8Array
  readonly headers: Headers
  /** Messages of one key are handled in the order of their arrival. */
  readonly key?: string | undefined
  readonly sentAt?: Date | undefined
  /** After this time the message is no longer wanted. */
  readonly expiresAt?: Date | undefined
  /** Where it came from: the queue, the topic, the route. */
  readonly source: string
  /** The broker's coordinate, for example `topic/3/1042`, for handlers that identify messages by position. */
  readonly position?: string | undefined
  /** Set for a dead letter that was too large to be kept: describes its body. There is nothing to handle. */
  readonly cut?: { readonly bytes: number; readonly sha256: string } | undefined
}

/** Headers of a message, by name. */
export type Headers = Readonly<Record<string, string>>

/** The W3C trace context: which trace something belongs to, and which span of it has caused it. */
export type TraceContext = { readonly traceparent?: string; readonly tracestate?: string }

/** A decoded and validated message, as handlers see it. */
export interface Message<Body = unknown> {
  readonly id: string
  readonly type: string
  readonly body: Body
  readonly headers: Headers
  readonly key?: string | undefined
  readonly sentAt?: Date | undefined
  readonly expiresAt?: Date | undefined
  readonly source: string
  readonly position?: string | undefined
}

/** A message on its way out. Its id is fixed when it is published and stays the same however often it is sent. */
export interface OutgoingMessage {
  readonly id: string
  readonly type: string
  readonly body: Uint8Array
  readonly headers: Headers
  readonly key?: string | undefined
  readonly sentAt: Date
  readonly expiresAt?: Date | undefined
  /** Who has published it, for operators. Only the store is told, no broker. */
  readonly causedBy?: Cause | undefined
  /** The same for what it is about. */
  readonly businessId?: string | undefined
}

/** The call of a handler that has published a message or intended a call. */
export interface Cause {
  readonly handler: string
  /** The key of the record of that call. `undefined` if it was a call with many messages. */
  readonly key?: string | undefined
  /** The id of the message, where that is another text than the key. */
  readonly messageId?: string | undefined
}

/** When a published message leaves, by the database's clock. */
export type Due = { readonly delayMs: number } | { readonly at: Date }

/** A message as it is published: it leaves at once, or when it is due. */
export interface PublishedMessage extends OutgoingMessage {
  readonly due?: Due | undefined
}
