import type { AfterJson, TraceContext } from '../contracts/index.ts'
import type { Backoff, BreakerPolicy, RetryPolicy } from '../engine/handler.ts'

/** A decided call, as an effect gets it. */
export interface Intent<Payload = unknown> {
  readonly effect: string
  /** The key that was given to `intend`, or the idempotency key. */
  readonly key: string
  /** The payload after a JSON round trip. */
  readonly payload: AfterJson<Payload>
  readonly intendedAt: Date
}

/** What the function behind an effect gets besides the payload. */
export interface EffectContext {
  /** The same for every attempt of an intent, and different for each intent: pass it on to a provider that takes one. */
  readonly idempotencyKey: string
  /** 1 is the first attempt. */
  readonly attempt: number
  /** The trace of whatever has intended it, if there was one. */
  readonly trace: TraceContext
  /** Aborted when the time of the call is up. Pass it on: otherwise the call goes on although nobody waits for it. */
  readonly signal: AbortSignal
  /**
   * Throws `DidNotHappen` if the time of the call is up. Call it right before the request if anything was awaited before it: a
   * process may be frozen meanwhile, and others take its work over.
   */
  assertInTime(): void
}

/** What a provider says about an earlier call. */
export type ProbeAnswer<Result = unknown> =
  | { readonly status: 'happened'; readonly result?: Result }
  | { readonly status: 'did-not-happen' }
  | { readonly status: 'unknown' }

/** How an external call is made, and what is done when nobody knows whether it happened. */
export interface EffectOptions<Payload = unknown, Result = unknown> {
  /**
   * Makes the call, outside of any transaction. What it returns is kept as the result, as JSON. Throw `DidNotHappen` if it is certain
   * that nothing has changed outside: every other error leaves the outcome unknown, unless the effect is `keyed`.
   */
  readonly run: (intent: Intent<Payload>, context: EffectContext) => Promise<Result> | Result
  /** The provider takes an idempotency key, and `run` passes it on: a failure is retried with the same key, unless it is a `PermanentError`. Default: false. */
  readonly keyed?: boolean
  /**
   * Asks the provider whether a call happened whose outcome is unknown. It is repeated only if the provider has said twice that it
   * did not. An error counts as `unknown`: it is asked again later, and in the end a person decides.
   */
  readonly probe?: (
    intent: Intent<Payload>,
    context: Pick<EffectContext, 'idempotencyKey' | 'trace' | 'signal'>,
  ) => Promise<ProbeAnswer<Result>> | ProbeAnswer<Result>
  /** How often a call that failed is repeated, and when. Default: 10 attempts, 1 s to 5 minutes apart. */
  readonly retry?: {
    readonly attempts?: number
    readonly backoff?: Backoff
    readonly classify?: (error: unknown) => 'permanent' | 'temporary'
  }
  /** After this time the signal is aborted and the attempt counts as failed. Default: 30 s. */
  readonly timeoutMs?: number
  /** How long after an unknown outcome the provider is asked, and how far apart two questions are. Default: 30 s. */
  readonly settleMs?: number
  /**
   * What happens to an unknown outcome that neither a key nor a probe can settle. `wait` (default): a person decides. `repeat`: it
   * is called again, and may happen twice. `discard`: it is given up, and may not have happened.
   */
  readonly unknown?: 'wait' | 'repeat' | 'discard'
  /** The most calls at once, in all processes together. One that goes on after its `timeoutMs` no longer counts. Default: 8 in each process. */
  readonly concurrency?: number
  /** The most calls per second, in all processes together. Default: no limit. */
  readonly perSecond?: number
  /**
   * After `after` different intents in a row have failed in a process, it calls only one now and then, until one succeeds. What is refused
   * for good does not count. Default: 5, and 1 s before the first trial. `false` turns it off.
   */
  readonly breaker?: { readonly after?: number; readonly pauseMs?: number } | false
  /** Whether the messages `intent.done:…` and `intent.failed:…` are stored. Default: those for which this app has handlers. */
  readonly announce?: boolean
}

/** Declares an effect that another app on the same database runs. */
export interface ElsewhereOptions {
  /** This app only intends the calls. */
  readonly elsewhere: true
}

/** What is done about an unknown outcome. */
export type Remedy = 'repeat' | 'probe' | 'wait' | 'discard'

/** A registered effect with all its options resolved. */
export interface Effect {
  readonly name: string
  readonly run: (intent: Intent, context: EffectContext) => unknown
  readonly probe:
    | ((intent: Intent, context: Pick<EffectContext, 'idempotencyKey' | 'trace' | 'signal'>) => unknown)
    | undefined
  readonly remedy: Remedy
  /** What is done if the provider cannot say. */
  readonly lastRemedy: Exclude<Remedy, 'probe'>
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly settleMs: number
  readonly concurrency: number | undefined
  readonly perSecond: number | undefined
  readonly breaker: BreakerPolicy | undefined
  readonly announce: boolean | undefined
}
