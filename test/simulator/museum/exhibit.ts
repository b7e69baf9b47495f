import type { Behaviour, Scenario } from '../scenario.ts'
import type { Program } from '../world.ts'

/** A consumer that breaks the promise in one known way. The simulator has to detect it. */
export interface Exhibit {
  readonly name: string
  /** What is wrong with it, for someone who has never thought about it. */
  readonly flaw: string
  /** How its damage shows, among other ways perhaps. */
  readonly caughtAs:
    | 'LOST'
    | 'DOUBLED'
    | 'ESCAPED'
    | 'STUCK'
    | 'UNRECORDED'
    | 'TORN'
    | 'DISORDER'
    | 'OVERTAKEN'
    | 'GIVEN UP'
    | 'HORIZON'
    | 'STARVED'
    | 'TOO OLD'
    | 'MESSAGES'
    | 'TWICE'
    | 'GONE'
    | 'DROPPED'
    | 'UNCOMMITTED'
    | 'UNTRUE'
    | 'TOLD'
  /** It knows one handler and no misbehaviour: it is given scenarios with nothing but good messages of one type. */
  readonly plain?: boolean
  /** The misbehaviour that brings out the flaw: it is given more of it. */
  readonly broughtOutBy?: Behaviour
  /** It is given worlds with several processes and nothing but good messages of one ordered key. */
  readonly isOneLine?: boolean
  /** It is given messages that are larger than what the store can keep, and fail. */
  readonly large?: boolean
  /** It is given a broker with this limit. */
  readonly deliveryLimit?: number
  /** It is given a broker of this shape. */
  readonly shape?: Scenario['shape']
  /** It is given worlds in which a handler is removed by a deploy. */
  readonly isDeployed?: boolean
  /** Somebody is frozen just before this step. */
  readonly frozenAt?: string
  /** It is given worlds in which the server refuses to open some transactions. */
  readonly isRefused?: boolean
  /** It is given worlds in which others use the same connections. */
  readonly isMeddled?: boolean
  /** It is given worlds in which records are removed. */
  readonly isRetained?: boolean
  /** It is given worlds in which a backup is restored. */
  readonly isRestored?: boolean
  /** It is given worlds in which the database's clock is ahead for a while. */
  readonly isJumping?: boolean
  /** It is given worlds in which one handler fails on everything, and some are slow. */
  readonly isCrowded?: boolean
  /** It is given worlds in which handlers publish with delays. */
  readonly isDelaying?: boolean
  /** It is given worlds with a schedule. */
  readonly isTicking?: boolean
  /** It is given worlds in which handlers intend calls to the outside. */
  readonly isIntending?: boolean
  /** It is given worlds with a handler that is content with at least once. */
  readonly isLoose?: boolean
  /** It is given worlds in which handlers mix their statements. */
  readonly isInterleaved?: boolean
  readonly program: Program
}
