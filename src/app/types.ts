import type { Events, IncomingMessage, Message, Queue, Store } from '../contracts/index.ts'
import type { PublishOptions } from '../engine/handler.ts'
import type { IntendOptions } from '../engine/intending/new-intent.ts'
import type { OnceContext, OnceKey, OnceOutcome } from '../engine/once/once.ts'
import type { EffectOptions, ElsewhereOptions } from '../intents/effect.ts'
import type { Operations } from '../operations/index.ts'
import type { ReservationOptions } from '../reservations/reservation-effect.ts'
import type { ScheduleOptions } from '../schedules/schedule.ts'
import type { OutcomeMessages } from './effect-map.ts'
import type { HandlerOptions, OutsideOptions } from './handler-options.ts'
import type { Health } from './health.ts'

/** The native transaction type of a store. */
export type TxOf<S extends Store> = S['lend'] extends (tx: infer Tx, ...rest: never[]) => unknown ? Tx : never

type TypeName<Map extends object> = keyof Map & string

/** Stores a message in the same transaction; it is sent after the commit. Resolves to its id. */
export type Publish<Map extends object> = <Type extends TypeName<Map>>(
  type: Type,
  body: Map[Type],
  options?: PublishOptions,
) => Promise<string>

/** A message as `publishAll` takes it, with the options of `publish`. */
export type MessageToPublish<Map extends object> = {
  readonly [Type in TypeName<Map>]: { readonly type: Type; readonly body: Map[Type] } & PublishOptions
}[TypeName<Map>]

/** The same as `publish` for each of them. Resolves to their ids. */
export type PublishAll<Map extends object> = (messages: readonly MessageToPublish<Map>[]) => Promise<readonly string[]>

/** `publish` and `publishAll` exist only if the store can keep outgoing messages. */
type Publishing<S extends Store, Map extends object> = S extends { readonly queue: Queue<never> }
  ? { readonly publish: Publish<Map>; readonly publishAll: PublishAll<Map> }
  : unknown

/** A schedule as `app.schedule` takes it. */
export type ScheduleToAdd<Map extends object> = {
  readonly [Type in TypeName<Map>]: ScheduleOptions & { readonly type: Type; readonly body: Map[Type] }
}[TypeName<Map>]
/** Stores a call of an effect in the same transaction; it is made after the commit. Resolves to its key. */
export type Intend<Effects extends object> = <Name extends keyof Effects & string>(
  effect: Name,
  payload: Effects[Name],
  options?: IntendOptions,
) => Promise<string>

/** What a handler receives. */
export type HandlerContext<S extends Store, Map extends object, Effects extends object = Record<string, unknown>> = {
  readonly tx: TxOf<S>
  /** 1 is the first attempt. In a batch handler: the attempt of the message with the most attempts. */
  readonly attempt: number
  /** Aborted when the handler's time is up. */
  readonly signal: AbortSignal
  /** Runs after the commit, at most once: a crash in between loses it. */
  afterCommit(work: () => unknown): void
  readonly intend: Intend<Effects>
} & Publishing<S, Map>

/** What a handler without a transaction receives. */
export type OutsideContext<S extends Store, Map extends object, Effects extends object> = Omit<
  HandlerContext<S, Map, Effects>,
  'tx'
>

/** The outcome of a message for one handler. */
export type HandlerOutcome =
  | { readonly status: 'processed' }
  | { readonly status: 'duplicate'; readonly processedAt: Date }
  | { readonly status: 'parked'; readonly error?: unknown }
  /** Another message with different content has the same key: this one is a dead letter (`KEY_REUSED`). */
  | { readonly status: 'key-reused' }
  /** It arrived too late and was skipped. */
  | { readonly status: 'expired' }
  /** An at-most-once handler failed; it does not run again. */
  | { readonly status: 'lost'; readonly error: unknown }

/** The outcome of a message for each handler, or why it reached none. */
export interface DeliveryOutcome {
  readonly handlers: Readonly<Record<string, HandlerOutcome>>
  readonly refused?: Error
}

/** A message as `deliver` takes it: the body may be a value, which is then encoded as by `publish`. */
export type MessageToDeliver = Omit<Partial<IncomingMessage>, 'body'> & { readonly body?: unknown }

/** Everything that an app can have handlers for. */
type Handled<Map extends object, Effects extends object> = Map & OutcomeMessages<Effects>

/** What `justonce()` returns: register handlers, then start it. */
export interface App<S extends Store, Map extends object, Effects extends object = Record<string, unknown>> {
  /** The store that it was given. */
  readonly store: S
  /** Registers a handler without a transaction: it holds no connection while it runs. */
  on<Type extends TypeName<Handled<Map, Effects>>, Body = Handled<Map, Effects>[Type]>(
    type: Type,
    handler: OutsideOptions<Body>,
    run: (message: Message<Body>, context: OutsideContext<S, Map, Effects>) => unknown,
  ): void
  /** Registers a handler for one type of message. Handlers of a type run in the order of registration. */
  on<Type extends TypeName<Handled<Map, Effects>>, Body = Handled<Map, Effects>[Type]>(
    type: Type,
    handler: string | HandlerOptions<Body>,
    run: (message: Message<Body>, context: HandlerContext<S, Map, Effects>) => unknown,
  ): void
  /**
   * The same for a handler that processes many messages with a few statements. After a failure the messages are split until the
   * failing one is alone.
   */
  onBatch<Type extends TypeName<Handled<Map, Effects>>, Body = Handled<Map, Effects>[Type]>(
    type: Type,
    handler: string | HandlerOptions<Body>,
    run: (messages: readonly Message<Body>[], context: HandlerContext<S, Map, Effects>) => unknown,
  ): void
  /** Sets the order in which the handlers of a type run, instead of the order of registration. It must name all of them. */
  order<Type extends TypeName<Handled<Map, Effects>>>(type: Type, handlers: readonly string[]): void
  /**
   * Publishes a message. With `tx`, the caller's own transaction, it is stored there and sent only if that transaction commits.
   * Without `tx` it is sent to its destination immediately, and the promise resolves when the broker has it; with a delay it is
   * stored in a transaction of its own.
   */
  publish<Type extends TypeName<Map>>(
    type: Type,
    body: Map[Type],
    options?: PublishOptions & { readonly tx?: TxOf<S> },
  ): Promise<string>
  /**
   * Publishes many messages, with one statement or one call of the broker for each destination. All of them are checked before the
   * first is stored or sent. With `tx` all are stored, or none. Without `tx`, a broker may refuse some and take the others:
   * `details.unsent` of the error has the ids of those that were not sent.
   */
  publishAll(
    messages: readonly MessageToPublish<Map>[],
    options?: { readonly tx?: TxOf<S> },
  ): Promise<readonly string[]>
  /**
   * Cancels a message that was published with `delayMs` or `at` to a destination of this app, by its id; with `tx`, if that
   * transaction commits. False if it was too late, or there is none.
   */
  cancel(id: string, options?: { readonly tx?: TxOf<S> }): Promise<boolean>
  /**
   * Publishes a message at each tick: one, however many processes have the schedule. The name identifies it across restarts.
   *
   * @example
   * app.schedule('nightly-report', { cron: '0 3 * * *', timeZone: 'Europe/Berlin', type: 'report.due', body: {} })
   */
  schedule(name: string, options: ScheduleToAdd<Map>): void
  /**
   * Registers an effect: a call to something outside, such as an e-mail or a payment. It is decided on with `intend` in a transaction,
   * and made after the commit. With `elsewhere: true`, another app on the same database makes the calls.
   */
  effect<Name extends keyof Effects & string, Result>(
    name: Name,
    options: EffectOptions<Effects[Name], Result> | ElsewhereOptions,
  ): void
  /**
   * Registers a reservation over several resources (try, confirm, cancel): all of them are taken, or none is. Like any effect it is
   * decided on with `intend`; its result says whether it was confirmed or cancelled.
   */
  reservation<Name extends keyof Effects & string>(name: Name, options: ReservationOptions<Effects[Name]>): void
  /**
   * Stores a call of an effect in the caller's own transaction; it is made only if that transaction commits. Resolves to its key.
   * Rejects without a transaction.
   */
  intend<Name extends keyof Effects & string>(
    effect: Name,
    payload: Effects[Name],
    options: IntendOptions & { readonly tx: TxOf<S> },
  ): Promise<string>
  /**
   * The same as `once(store, key, work)` with `publish` and `intend`, for code that something else calls: a route, a cron job. The app
   * need not be started.
   */
  once<Value>(
    key: OnceKey,
    work: (
      tx: TxOf<S>,
      context: OnceContext & Publishing<S, Map> & { readonly intend: Intend<Effects> },
    ) => Promise<Value> | Value,
  ): Promise<OnceOutcome<Value>>
  /**
   * Gives this handler no more messages in this process until `resume`: they wait as behind an open breaker, no attempt
   * is counted, and everything else goes on. Runs that have started are finished. A pause does not survive a restart.
   */
  pause(handler: string): void
  /** Ends a `pause`. */
  resume(handler: string): void
  /** Runs one message through the engine, without a transport: for tests. */
  deliver(message: MessageToDeliver): Promise<DeliveryOutcome>
  /**
   * Prepares the store and starts to consume. Waits for a store that is unavailable or locked (event `store-down`), without a
   * limit or for `withinMs`; every other failure rejects immediately. With `waitFor: 'brokers'` it also waits until every transport
   * that brings messages was reached. If one refuses us, or is not reached in time, it rejects, but the app is started and
   * keeps trying.
   */
  start(options?: { readonly withinMs?: number; readonly waitFor?: 'store' | 'brokers' }): Promise<void>
  /**
   * Takes no more messages, finishes the running ones, gives back the rest and closes the transports. Resolves within `withinMs`
   * (default: 25,000); the event `stop-unfinished` says what had not ended by then. None of that is lost: it may be delivered
   * again.
   */
  stop(options?: { readonly withinMs?: number }): Promise<void>
  /**
   * The health of the app, for liveness and readiness probes. Never rejects; a store that has not answered within
   * `withinMs` (default: 2,000) is down.
   */
  health(options?: { readonly withinMs?: number }): Promise<Health>
  /** What happens in the app, as it happens. */
  readonly events: Pick<Events, 'listen'>
  /** What operators ask and do: `operations(store)`, plus what the handlers of this app know. */
  readonly operations: Operations
}
