import type { IncomingMessage } from './message.ts'

/** Reads and writes bodies that are not JSON. */
export interface Codec {
  /** What `publish` says about its bodies in the header `content-type`, unless the publisher says something else. */
  readonly contentType?: string | undefined
  /**
   * What handlers get, or a promise of it. `message.headers['content-type']` is what the sender says about the bytes, where the
   * transport tells. What it throws makes the message a dead letter (`BODY_NOT_DECODED`).
   */
  decode(bytes: Uint8Array, message: IncomingMessage): unknown
  /** The bytes to send, at once: messages leave in the order in which they are published. */
  encode(value: unknown, type: string): Uint8Array
}
