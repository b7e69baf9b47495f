import type { Message } from '../contracts/index.ts'
import type { Backoff, DeliveryMode } from '../engine/handler.ts'
import type { StandardSchema } from '../engine/standard-schema.ts'

export interface HandlerOptions<Body = unknown> {
  /** Half of the idempotency key: keep it when the code moves, and list old names in `formerly` when it must change. */
  readonly name: string
  /**
   * - `exactly-once` (default): its record commits with its effects.
   * - `at-least-once`: for naturally idempotent handlers; tx and publish, but no record and no cost.
   * - `at-most-once`: recorded and acknowledged first, then run; a crash or failure loses it.
   */
  readonly delivery?: DeliveryMode
  readonly retry?: RetryOptions
  /** The handler is cut off, and everything it did undone, after this long. 30 s if not given. */
  readonly timeoutMs?: number
  /** Keeps what the handler returns, as JSON, with its record. */
  readonly keepResult?: boolean
  /** `own`: this handler never shares a transaction with other messages. */
  readonly transaction?: 'shared' | 'own'
  /** Runs even when an earlier handler of the same message has failed. */
  readonly independent?: boolean
  /** The idempotency key, instead of the message's id. */
  readonly identify?: (message: Message<Body>) => string
  /** What must be equal under one key: the body (as canonical JSON), nothing, or what the function returns. */
  readonly fingerprint?: 'body' | 'none' | ((message: Message<Body>) => unknown)
  readonly schema?: StandardSchema<Body>
  /**
   * `key`: messages of one `key` take effect in the order of their arrival: while one waits for a retry, those behind it
   * wait too, and other keys go on. Needs a transport that delivers in order.
   */
  readonly ordered?: 'none' | 'key'
  /** With `ordered`: whether the messages behind a dead letter wait until somebody has seen to it. `block` if not given. */
  readonly whenDead?: 'block' | 'continue'
  /** A message that is older than this by its `sentAt` is not handled any more; one with an `expiresAt` has its own end. */
  readonly expiresAfterMs?: number
  /** What becomes of a message that came too late. `skip` if not given: recorded as expired and counted. */
  readonly whenExpired?: 'skip' | 'dead-letter'
  /**
   * When so many different messages in a row have failed, this handler is given no more but one now and then, until one
   * succeeds. 20 messages and 1 s before the first trial if not given; `false`: never.
   */
  readonly breaker?: { readonly after?: number; readonly pauseMs?: number } | false
  /**
   * For keys from `identify`: when the message came into being, from the same parts of it. The name stands for the way it is
   * read; change it when that changes.
   */
  readonly born?: { readonly name: string; readonly of: (message: Message<Body>) => Date | undefined }
  /** Names this handler had before; their records still count. */
  readonly formerly?: readonly string[]
}

export interface RetryOptions {
  /** Attempts in all, the first included. 5 if not given. */
  readonly attempts?: number
  /** `exponential()` if not given; or `fixed(ms)`, `none`, or a function of the attempt that failed and its error. */
  readonly backoff?: Backoff
  /** `permanent`: an error that no further attempt can mend; the message is a dead letter at once. */
  readonly classify?: (error: unknown) => 'permanent' | 'temporary'
}
