import type { Message } from '../contracts/index.ts'
import type { Backoff, DeliveryMode } from '../engine/handler.ts'
import type { StandardSchema } from '../engine/intake/standard-schema.ts'

/** What `app.on()` and `app.onBatch()` take instead of a bare name. */
export interface HandlerOptions<Body = unknown> {
  /** Half of the idempotency key: keep it when the code moves, and list old names in `formerly` when it must change. */
  readonly name: string
  /**
   * - `exactly-once` (default): its record commits with its effects.
   * - `at-least-once`: for naturally idempotent handlers; has tx and publish, but no record and no cost. Not for calls to the outside: `intend` them.
   * - `at-most-once`: recorded and acknowledged first, then run; a crash or failure loses the message.
   */
  readonly delivery?: DeliveryMode
  /** How often a failed message is retried, and when. Default: five attempts, with `exponential()` waits. */
  readonly retry?: RetryOptions
  /** After this time the handler is aborted, and everything it did is rolled back. Default: 30 s. */
  readonly timeoutMs?: number
  /**
   * At most this many of its messages are handled at once in this process, including retries. The others wait, and
   * messages of other types go on. Default: no limit except that of the app.
   */
  readonly concurrency?: number
  /** Stores the handler's result, as JSON, with its record. Default: false. */
  readonly keepResult?: boolean
  /** `own`: this handler never shares a transaction with other messages. Default: `shared`. `none`: see `OutsideOptions`. */
  readonly transaction?: 'shared' | 'own'
  /**
   * The messages of a batch run at the same time and mix their statements in one transaction, so that a batch takes a handful
   * of round trips. Messages of one key stay in order. Safe for inserts, increments, upserts and conditional updates. Not safe
   * for what reads a row and writes what it has computed from it, even with FOR UPDATE: a lock does not separate messages of
   * one transaction. `prove()` checks it. Default: false.
   */
  readonly interleave?: boolean
  /** Runs even if an earlier handler of the same message has failed. Default: false. */
  readonly independent?: boolean
  /** The idempotency key. Default: the message's id. */
  readonly identify?: (message: Message<Body>) => string
  /** What must be equal under one key: the body, nothing, or what the function returns. Default: `body`. */
  readonly fingerprint?: 'body' | 'none' | ((message: Message<Body>) => unknown)
  /**
   * Checks and types the body: any Standard Schema, such as zod, valibot or arktype. A body that does not fit makes a dead
   * letter.
   */
  readonly schema?: StandardSchema<Body>
  /** Keeps the order of messages, even after failures. Default: no order. */
  readonly ordered?: OrderOptions
  /** When a message is too late. Default: never, unless it has an `expiresAt`. */
  readonly expires?: ExpiryOptions
  /**
   * After `after` different messages in a row have failed, this handler gets only one message now and then, until one
   * succeeds. Default: 20 messages, and 1 s before the first trial. `false` turns it off.
   */
  readonly breaker?: { readonly after?: number; readonly pauseMs?: number } | false
  /**
   * For keys from `identify`: when the message came into being, read from the same parts of it. The name identifies how the
   * time is read; change it when that changes.
   */
  readonly born?: { readonly name: string; readonly of: (message: Message<Body>) => Date | undefined }
  /** Earlier names of this handler; their records still count. */
  readonly formerly?: readonly string[]
}

/** Options of a handler that has no `tx`. */
export interface OutsideOptions<Body = unknown>
  extends Omit<HandlerOptions<Body>, 'transaction' | 'delivery' | 'ordered' | 'interleave'> {
  /**
   * It runs without a transaction, and no connection is held while it waits for something else. What it publishes and intends is
   * stored when it has returned.
   */
  readonly transaction: 'none'
  /** It has no record that could commit with its effects. */
  readonly delivery: 'at-least-once' | 'at-most-once'
}

/** Of either kind, also such that contradict each other, which the types do not allow. */
export type AnyHandlerOptions<Body = unknown> = Omit<HandlerOptions<Body>, 'transaction'> & {
  readonly transaction?: (HandlerOptions | OutsideOptions)['transaction']
}

/** Which messages take effect in the order in which they arrive. Needs a transport that delivers in order. */
export interface OrderOptions {
  /** Messages that have the same `key`. While one waits for a retry, those behind it wait too, and other keys go on. */
  readonly by: 'key'
  /** Whether messages behind a dead letter wait until it is redriven or discarded. Default: `block`. */
  readonly whenDead?: 'block' | 'continue'
  /**
   * With `block`: about how many messages may wait behind a dead letter. What comes after them becomes a dead letter itself, behind
   * them (`TOO_MANY_BEHIND`). Default: 10,000.
   */
  readonly mostBehind?: number
}

/** When a message is too late for a handler, and what happens to it then. */
export interface ExpiryOptions {
  /**
   * A message that is older than this by its `sentAt` is no longer handled. If it also has an `expiresAt`, the earlier time
   * counts.
   */
  readonly afterMs?: number
  /** Default: `skip`, which records it as expired and counts it. */
  readonly whenLate?: 'skip' | 'dead-letter'
}

/** How often, and after which waits, a failed message is tried again. */
export interface RetryOptions {
  /** The total number of attempts, including the first. Default: 5. */
  readonly attempts?: number
  /** `exponential()`, `fixed(ms)`, `none`, or a function of the failed attempt and its error. Default: `exponential()`. */
  readonly backoff?: Backoff
  /** `permanent`: no further attempt can succeed, so the message becomes a dead letter immediately. */
  readonly classify?: (error: unknown) => 'permanent' | 'temporary'
}
