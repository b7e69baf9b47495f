import type { Message } from '../contracts/index.ts'
import type { StandardSchema } from './intake/standard-schema.ts'
import type { IntendOptions } from './intending/new-intent.ts'

/** What a handler asks for. Default: `exactly-once`. */
export type DeliveryMode = 'exactly-once' | 'at-least-once' | 'at-most-once'

/**
 * Milliseconds to wait after the given attempt (1 is the first) failed with the given error, or `dead` for no further
 * attempt. `random` is 0 ≤ x < 1, for jitter.
 */
export type Backoff = (attempt: number, error: unknown, random: number) => number | 'dead'

/** How many attempts a failing handler gets, and how long it waits before each further attempt. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoff: Backoff
  /** `permanent`: retrying cannot help. */
  readonly classify: ((error: unknown) => 'permanent' | 'temporary') | undefined
}

/** When a message came into being, derived from its identity alone, so that it is the same for every copy. */
export interface BornScheme {
  /** Kept in the store for each handler, because a changed scheme would not find its records. `none`: ids contain no time. */
  readonly name: string
  of(message: Message): Date | undefined
}

/** When a handler gets no more messages because all of them fail. */
export interface BreakerPolicy {
  /** How many different messages in a row must fail. */
  readonly after: number
  /** How long the handler gets no messages before the first trial. Doubled after each failed trial. */
  readonly pauseMs: number
}

/** Options of a published message. */
export interface PublishOptions {
  /** The id by which consumers recognise copies. Default: a new UUIDv7. */
  readonly id?: string
  /** Messages of one key keep their order if the broker has an order. Default: none. */
  readonly key?: string
  /** Headers that travel with the body. */
  readonly headers?: Readonly<Record<string, string>>
  /** After this time the message is no longer wanted. */
  readonly expiresAt?: Date
  /** Leaves so many milliseconds after it was stored, by the database's clock. Default: at once. */
  readonly delayMs?: number
  /** Leaves at this time, by the database's clock. Default: at once. */
  readonly at?: Date
}

/** A message as `publishAll` takes it. */
export interface AnyToPublish extends PublishOptions {
  readonly type: string
  readonly body: unknown
}

/** What a handler is given besides the message. */
export interface RunContext<Tx> extends CallContext {
  readonly tx: Tx
  /** 1 is the first attempt. If a call has several messages, the highest attempt among them. */
  readonly attempt: number
}

/** The part of the context that does not depend on a message. */
export interface CallContext {
  /** Aborted when the handler's time is up. */
  readonly signal: AbortSignal
  /** Stores a message in the same transaction. It is sent after the commit, and its id never changes. */
  publish(type: string, body: unknown, options?: PublishOptions): Promise<string>
  /** The same for each of them. */
  publishAll(messages: readonly AnyToPublish[]): Promise<readonly string[]>
  /** Stores a call of an effect in the same transaction. It is made after the commit. Resolves to its key. */
  intend(effect: string, payload: unknown, options?: IntendOptions): Promise<string>
  /** Runs after the commit, at most once: a crash in between loses it. Use it to refresh a cache, for example. */
  afterCommit(work: () => unknown): void
}

/** A registered handler with all its options resolved. */
export interface Handler<Tx = unknown> {
  readonly name: string
  readonly type: string
  /** Its place among the handlers of its type. */
  readonly step: number
  readonly delivery: DeliveryMode
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly keepResult: boolean
  /** How many batches may have its messages at once; `undefined` if there is no limit. */
  readonly concurrency: number | undefined
  /** `own`: one message per transaction. `none`: called outside, before the transaction that writes what has become of it. */
  readonly transaction: 'shared' | 'own' | 'none'
  /** Its statements may mix with those of other messages in one transaction. */
  readonly interleave: boolean
  /** Runs even if an earlier handler of the same message has failed. */
  readonly independent: boolean
  readonly identify: ((message: Message) => string) | undefined
  readonly fingerprint: 'body' | 'none' | ((message: Message) => unknown)
  readonly schema: StandardSchema | undefined
  /**
   * Messages of one key take effect in the order of their arrival, even after failures. `whenDead`: whether they wait behind a
   * dead letter, and `mostBehind` how many of them.
   */
  readonly ordered: { readonly whenDead: 'block' | 'continue'; readonly mostBehind: number } | undefined
  /** A message older than `afterMs` is not handled. */
  readonly expires: { readonly afterMs: number | undefined; readonly whenLate: 'skip' | 'dead-letter' }
  readonly breaker: BreakerPolicy | undefined
  /** How the time of a message is read from its identity. */
  readonly born: BornScheme
  /** Names under which its records may still be found. */
  readonly formerly: readonly string[]
  readonly call:
    | { readonly kind: 'each'; run(message: Message, context: RunContext<Tx>): unknown }
    | { readonly kind: 'batch'; run(messages: readonly Message[], context: RunContext<Tx>): unknown }
}

/** Whether a batch of its messages takes about as long as one of them. */
export function gathers({ interleave, call }: Pick<Handler, 'interleave' | 'call'>): boolean {
  return interleave || call.kind === 'batch'
}
