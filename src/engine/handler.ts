import type { Message } from '../contracts/index.ts'
import type { StandardSchema } from './intake/standard-schema.ts'

export type DeliveryMode = 'exactly-once' | 'at-least-once' | 'at-most-once'

/**
 * Milliseconds to wait after the given attempt (1 is the first) has failed with the given error, or `dead`: no further
 * one. `random` is 0 ≤ x < 1, for jitter.
 */
export type Backoff = (attempt: number, error: unknown, random: number) => number | 'dead'

/** How many attempts a failing handler gets, and how long it waits before each but the first. */
export interface RetryPolicy {
  readonly attempts: number
  readonly backoff: Backoff
  /** `permanent`: no further attempt can mend this. */
  readonly classify: ((error: unknown) => 'permanent' | 'temporary') | undefined
}

/** When a message came into being, from its identity alone: the same for every copy of it. */
export interface BornScheme {
  /** Kept in the store for each handler: a scheme that changed would not find its records. `none`: ids have no time. */
  readonly name: string
  of(message: Message): Date | undefined
}

/** When a handler is no longer given messages because all of them fail. */
export interface BreakerPolicy {
  /** So many different messages in a row must have failed. */
  readonly after: number
  /** How long it is left alone before the first trial; doubled after each that fails. */
  readonly pauseMs: number
}

/** Options of a message on its way out. */
export interface PublishOptions {
  /** Under which consumers recognise copies. Default: a new UUIDv7. */
  readonly id?: string
  /** Messages of one key keep their order on the way, where the broker has an order. Default: none. */
  readonly key?: string
  /** What travels beside the body. */
  readonly headers?: Readonly<Record<string, string>>
  /** After this moment nobody wants it any more. */
  readonly expiresAt?: Date
}

/** What a handler is given beside the message. */
export interface RunContext<Tx> extends CallContext {
  readonly tx: Tx
  /** 1 is the first. Of several messages in one call, that of the one tried most often. */
  readonly attempt: number
}

/** The same without what only messages have. */
export interface CallContext {
  /** Aborted when the handler's time is up. */
  readonly signal: AbortSignal
  /** Stores a message in the same transaction; it leaves after the commit, under one id for ever. */
  publish(type: string, body: unknown, options?: PublishOptions): Promise<string>
  /** Runs after the commit, at most once: a crash in between loses it. For refreshing a cache. */
  afterCommit(work: () => unknown): void
}

/** A registered handler with all its options decided. */
export interface Handler<Tx = unknown> {
  readonly name: string
  readonly type: string
  /** Its place among the handlers of its type. */
  readonly step: number
  readonly delivery: DeliveryMode
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly keepResult: boolean
  /** So many batches may have its messages at once; undefined: any number. */
  readonly concurrency: number | undefined
  /** `own`: one message to a transaction. */
  readonly transaction: 'shared' | 'own'
  /** Runs although an earlier handler of the same message has failed. */
  readonly independent: boolean
  readonly identify: ((message: Message) => string) | undefined
  readonly fingerprint: 'body' | 'none' | ((message: Message) => unknown)
  readonly schema: StandardSchema | undefined
  /** Messages of one key take effect in the order of their arrival, also past failures. `whenDead`: whether they wait behind a dead letter. */
  readonly ordered: { readonly whenDead: 'block' | 'continue' } | undefined
  /** A message older than `afterMs` is not handled any more. */
  readonly expires: { readonly afterMs: number | undefined; readonly whenLate: 'skip' | 'dead-letter' }
  readonly breaker: BreakerPolicy | undefined
  /** How the time of a message is read from what identifies it. */
  readonly born: BornScheme
  /** Names under which its records may still be found. */
  readonly formerly: readonly string[]
  readonly call:
    | { readonly kind: 'each'; run(message: Message, context: RunContext<Tx>): unknown }
    | { readonly kind: 'batch'; run(messages: readonly Message[], context: RunContext<Tx>): unknown }
}
