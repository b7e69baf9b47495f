import type { Message } from '../contracts/index.ts'
import type { StandardSchema } from './standard-schema.ts'

export type DeliveryMode = 'exactly-once' | 'at-least-once' | 'at-most-once'

/** How many attempts a failing handler gets, and how long it waits before each but the first. */
export interface RetryPolicy {
  readonly attempts: number
  /** Milliseconds before attempt n + 1, after n attempts have failed. `random` is 0 ≤ x < 1, for jitter. */
  backoff(failedAttempts: number, random: number): number
}

/** Options of a message on its way out. */
export interface PublishOptions {
  readonly id?: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What a handler is given beside the message. */
export interface RunContext<Tx> {
  readonly tx: Tx
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
  /** `own`: one message to a transaction. */
  readonly transaction: 'shared' | 'own'
  /** Runs although an earlier handler of the same message has failed. */
  readonly independent: boolean
  readonly identify: ((message: Message) => string) | undefined
  readonly fingerprint: 'body' | 'none' | ((message: Message) => unknown)
  readonly schema: StandardSchema | undefined
  /** Names under which its records may still be found. */
  readonly formerly: readonly string[]
  readonly call:
    | { readonly kind: 'each'; run(message: Message, context: RunContext<Tx>): unknown }
    | { readonly kind: 'batch'; run(messages: readonly Message[], context: RunContext<Tx>): unknown }
}
