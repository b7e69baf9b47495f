import type {
  Clock,
  Codec,
  Events,
  Headers,
  Hints,
  IncomingMessage,
  PublishedMessage,
  Store,
} from '../contracts/index.ts'
import type { RecentCommits } from './batch/recent-commits.ts'
import type { HandlerSlots } from './batch/slots.ts'
import type { Around } from './calls/around.ts'
import type { CallsInProgress } from './calls/calls-in-progress.ts'
import type { Interleaving } from './calls/interleaving.ts'
import type { Isolation } from './calls/isolation.ts'
import type { Handler } from './handler.ts'
import type { Hooks } from './hooks.ts'
import type { BusinessIdOf } from './intake/business-id.ts'
import type { EnvelopeLimits } from './intake/check-envelope.ts'
import type { StandardSchema } from './intake/standard-schema.ts'
import type { Run } from './items.ts'
import type { BlockedKeys } from './order/blocked-keys.ts'
import type { Breakers } from './recovery/breakers.ts'

/** Everything that processing a batch needs. There is one per store, shared by all lanes of a process. */
export interface Engine<Tx> {
  readonly store: Store<Tx>
  /** Asked before a batch is claimed. */
  readonly hints: Hints | undefined
  readonly clock: Clock
  readonly events: Events
  readonly limits: EnvelopeLimits
  readonly unknownTypes: 'dead-letter' | 'ignore'
  /** Why a message that was given up before it came here must still not be run. */
  stillGivenUp?(message: IncomingMessage): Error | undefined
  /** Handlers of a type, in the order in which they run. */
  handlersOf(type: string): readonly Handler<Tx>[]
  handlerNamed(name: string): Handler<Tx> | undefined
  /** Whether any handler has `concurrency`. */
  readonly isLimited: boolean
  /** Whether any handler takes many messages in about the time of one. */
  readonly isGathering: boolean
  /** All names under which messages may be parked here, including former names. */
  readonly handlerNames: readonly string[]
  schemaOf(type: string): StandardSchema | undefined
  /** The codec for bodies of a type; `undefined` if they are JSON. */
  codecOf(type: string): Codec | undefined
  /** Sets context for one message, for example a tenant, before each of its handlers. */
  readonly beforeEach: ((message: Run<Tx>['message'], tx: Tx) => unknown) | undefined
  /** Wraps every call of a handler. */
  readonly around: Around | undefined
  /** The headers of the trace that runs now, for what is published. */
  readonly traceHeaders?: (() => Headers) | undefined
  /** The name under which the business knows what a message is about. */
  readonly businessIdOf?: BusinessIdOf | undefined
  /** Handler names, including former ones, whose records were made without a time. */
  readonly timeless: ReadonlySet<string>
  /** What happens to a message so old that its record may have been removed. */
  readonly tooOld: 'dead-letter' | 'skip'
  readonly recent: RecentCommits
  readonly isolation: Isolation
  readonly interleaving: Interleaving<Tx>
  readonly breakers: Breakers
  readonly blockedKeys: BlockedKeys
  readonly slots: HandlerSlots
  readonly calls: CallsInProgress
  readonly hooks: Hooks
  readonly timing: EngineTiming
  readonly outlet: Outlet<Tx>
  readonly effects: EffectDirectory
  /** Called when something was stored for one of the loops. */
  wake(loop: LoopToWake): void
}

/** Where messages that handlers publish go. */
export interface Outlet<Tx> {
  /** Throws if a message of this type has no destination. */
  check(type: string): void
  /** Stores them in the transaction; they are sent after the commit. */
  store(tx: Tx, messages: readonly PublishedMessage[]): Promise<void>
  /** Called when the transaction has committed. */
  committed(messages: readonly PublishedMessage[]): void
  /** Called when parked messages were put into these queues, and that has committed. */
  moved(queues: readonly string[]): void
  /** The queues from which this app sends to brokers. */
  readonly queues: readonly string[]
  /** The names under which delayed messages are parked that this process may move into their queues. */
  readonly delayedNames: readonly string[]
  /** Adds the names of those that other apps have stored. */
  learnDelayed(names: readonly string[]): void
  /** The queues from which this process itself sends. */
  readonly servedHere: readonly string[]
}

/** The effects that this app knows. */
export interface EffectDirectory {
  /** Throws if there is no effect of this name. */
  check(effect: string): void
  /** The types of messages about its outcome that this app has handlers for. */
  announced(effect: string): readonly string[]
  /** Whether this process can run the effect. */
  isRunHere(effect: string): boolean
}

export type LoopToWake = 'relay' | 'retries' | 'redrives' | 'intents' | 'heartbeat'

export interface EngineTiming {
  /** A batch stops starting handlers when it has run this much longer than planned. */
  readonly overrunMs: number
  /** How long a batch waits for a lock that another transaction holds. Short, because all its messages wait with it. */
  readonly batchLockTimeoutMs: number
  /** The same for a message that is alone. Each try is given twice as long, up to `longestLockTimeoutMs`. */
  readonly aloneLockTimeoutMs: number
  readonly longestLockTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Longer than any handler may take: a statement that is still running then belongs to a handler that was given up. */
  readonly statementTimeoutMs: number
  /** How many conflicts in a row of one message count as a failed attempt. */
  readonly conflictsPerAttempt: number
}
