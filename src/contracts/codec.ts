import type { IncomingMessage } from './message.ts'

/** Reads and writes bodies that are not JSON. */
export interface Codec {
  /** The header `content-type` of published bodies, unless the publisher sets another one. */
  readonly contentType?: string | undefined
  /**
   * Returns the body that handlers receive, or a promise of it. `message.headers['content-type']` is what the sender says about
   * the bytes, if the transport provides it. If it throws, the message becomes a dead letter (`BODY_NOT_DECODED`).
   */
  decode(bytes: Uint8Array, message: IncomingMessage): unknown
  /** Returns the bytes to send, synchronously, because messages are sent in the order in which they are published. */
  encode(value: unknown, type: string): Uint8Array
}
