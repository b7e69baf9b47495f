import type { Clock, Codec, Events, Hints, OutgoingMessage, Store } from '../contracts/index.ts'
import type { RecentCommits } from './batch/recent-commits.ts'
import type { HandlerSlots } from './batch/slots.ts'
import type { Around } from './calls/around.ts'
import type { Isolation } from './calls/isolation.ts'
import type { Handler } from './handler.ts'
import type { Hooks } from './hooks.ts'
import type { EnvelopeLimits } from './intake/check-envelope.ts'
import type { StandardSchema } from './intake/standard-schema.ts'
import type { Run } from './items.ts'
import type { Breakers } from './recovery/breakers.ts'

/** Everything that processing a batch needs; one per store, shared by all lanes of a process. */
export interface Engine<Tx> {
  readonly store: Store<Tx>
  /** Asked before a batch is claimed. */
  readonly hints: Hints | undefined
  readonly clock: Clock
  readonly events: Events
  readonly limits: EnvelopeLimits
  readonly unknownTypes: 'dead-letter' | 'ignore'
  /** Handlers of a type, in the order in which they run. */
  handlersOf(type: string): readonly Handler<Tx>[]
  handlerNamed(name: string): Handler<Tx> | undefined
  /** Whether any handler has `concurrency`. */
  readonly isLimited: boolean
  /** All names under which messages may be parked here, former ones included. */
  readonly handlerNames: readonly string[]
  schemaOf(type: string): StandardSchema | undefined
  /** What reads and writes bodies of a type; undefined: they are JSON. */
  codecOf(type: string): Codec | undefined
  /** Sets context for one message, for example a tenant, before each of its handlers. */
  readonly beforeEach: ((message: Run<Tx>['message'], tx: Tx) => unknown) | undefined
  /** Wraps every call of a handler. */
  readonly around: Around | undefined
  /** Handler names, former ones included, whose records were made without a time. */
  readonly timeless: ReadonlySet<string>
  /** What becomes of a message so old that its record may have been removed. */
  readonly tooOld: 'dead-letter' | 'skip'
  readonly recent: RecentCommits
  readonly isolation: Isolation
  readonly breakers: Breakers
  readonly slots: HandlerSlots
  readonly hooks: Hooks
  readonly timing: EngineTiming
  readonly outlet: Outlet<Tx>
  /** Something was stored for one of the loops. */
  wake(loop: LoopToWake): void
}

/** Where messages go that handlers publish. */
export interface Outlet<Tx> {
  /** Throws where a message of this type has nowhere to go. */
  check(type: string): void
  /** Stores them in the transaction; they leave after the commit. */
  store(tx: Tx, messages: readonly OutgoingMessage[]): Promise<void>
  /** The transaction has committed. */
  committed(messages: readonly OutgoingMessage[]): void
  /** The queues from which this app sends to brokers. */
  readonly queues: readonly string[]
  /** Those of them from which this very process does. */
  readonly servedHere: readonly string[]
}

export type LoopToWake = 'relay' | 'retries' | 'redrives'

export interface EngineTiming {
  /** A batch stops starting handlers when it has run this much longer than planned. */
  readonly overrunMs: number
  /** How long a batch waits for a rival's lock: short, because all its messages wait with it. */
  readonly batchLockTimeoutMs: number
  /** The same for a message that runs alone, at its last try. */
  readonly aloneLockTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Longer than any handler may take: what is still running then belongs to one that was given up. */
  readonly statementTimeoutMs: number
  /** Conflicts of one message in a row before they count as a failed attempt. */
  readonly conflictsPerAttempt: number
}
