import type { Delivery, InboxRecord, Message, PublishedMessage, StoredParkedMessage } from '../contracts/index.ts'
import { recordKeyOf } from '../encoding/record-key.ts'
import { isJustonceError, type JustonceError } from '../errors/index.ts'
import type { Handler } from './handler.ts'
import type { NewIntent } from './intending/new-intent.ts'
import type { Verdict } from './recovery/failure-policy.ts'
import type { Reservation } from './retries/reservation.ts'

/** One delivery that can be handled, with everything its handlers need. */
export interface Work<Tx> {
  readonly delivery: Delivery
  /** In registration order. */
  readonly runs: readonly Run<Tx>[]
  readonly origin: Origin
}

/** A delivery and what must be done with it. With neither `work` nor `refusal`, it only counts as handled. */
export interface Item<Tx> {
  readonly delivery: Delivery
  readonly work?: Work<Tx>
  readonly refusal?: Refusal
}

/** The parked row that the item was taken from. */
export function letterOf<Tx>({ work, refusal }: Item<Tx>): StoredParkedMessage | undefined {
  return work?.origin.letter ?? refusal?.letter
}

/** Where a message comes from, as far as that affects how it is handled. */
export interface Origin {
  /** The parked row that the message was taken from. If set, there is no broker to acknowledge to. */
  readonly letter?: StoredParkedMessage | undefined
  /** The current state of that row's reservation. */
  readonly reservation?: Reservation | undefined
  /**
   * The position says whether the message was handled. It has no record of its own, and this mark distinguishes it from
   * others with its id.
   */
  readonly mark?: string | undefined
  /** Counted as a suspect under this id until it ends other than by a crash of the process. */
  readonly suspect?: string | undefined
  /** Why none of its handlers may run any more. */
  readonly condemned?: JustonceError | undefined
  /** Runs that a breaker stops are parked, so that the rest can go on. Otherwise the delivery is left to the caller. */
  readonly parksStopped?: boolean | undefined
}

/** One handler for one message: the unit that is claimed, run and recorded. */
export interface Run<Tx> {
  /**
   * Its number among all runs that were prepared together. Its outcome is stored under this number, in whichever
   * transaction it runs.
   */
  readonly index: number
  /** The number of the first run of its message. */
  readonly first: number
  readonly delivery: Delivery
  readonly origin: Origin
  readonly handler: Handler<Tx>
  readonly message: Message
  /** Shared by all runs with the same message, including copies of this run. */
  readonly handout: { wasGiven: boolean }
  readonly key: string
  /** The message is known by its position, and other messages may have its key. */
  readonly mark?: string | undefined
  readonly fingerprint: Uint8Array | undefined
  /** When the message came into being, if its identity says so. */
  readonly born: Date | undefined
  /** The parked row that owns the run. Without one, the run must be claimed. */
  readonly owner: StoredParkedMessage | undefined
  /** The message came too late and must be skipped. */
  readonly expired: boolean
  /** Set if the run is known to fail (it does not fit the handler's schema, or it timed out before). It is then not run. */
  readonly failure: { readonly error: unknown } | undefined
  /** The store refused its row, so the texts in the row must be ASCII, which every database can hold. */
  readonly isPlain?: boolean | undefined
}

/** A delivery that no handler can take, and why. It becomes a dead letter. */
export interface Refusal {
  readonly delivery: Delivery
  readonly error: JustonceError
  /** The parked row that the message was taken from. */
  readonly letter: StoredParkedMessage | undefined
  /** What happens to that row. */
  readonly verdict?: Verdict | undefined
  /** The message is known by its position. */
  readonly mark?: string | undefined
  /**
   * For a message that could not be kept otherwise. `plain`: all of it, with no text in the row that a database could
   * refuse. `note`: only a description, because the message is too large.
   */
  readonly form?: 'plain' | 'note' | undefined
}

/** The outcome of a run in one attempted transaction. */
export type RunOutcome =
  | { readonly kind: 'processed'; readonly products: RunProducts }
  | { readonly kind: 'duplicate'; readonly record: InboxRecord }
  /** A parked row already owns it. */
  | { readonly kind: 'parked' }
  /** Another message with different content has its key. */
  | { readonly kind: 'key-reused'; readonly record: InboxRecord }
  | { readonly kind: 'failed'; readonly error: unknown; readonly verdict: Verdict }
  /**
   * An earlier handler of the message, or an earlier message of its key, has failed and this run must wait for it; or its handler
   * fails on every message.
   */
  | {
      readonly kind: 'waiting'
      readonly behind: 'handler' | 'message' | 'breaker'
      /** The handler name that it is parked under, if that is a former name. */
      readonly under?: string | undefined
    }
  /** It came too late and was skipped. `unclaimed`: so late that a record may already have been removed. */
  | { readonly kind: 'expired'; readonly unclaimed?: true }
  /** Another process has taken its parked row meanwhile, and decides the outcome. */
  | { readonly kind: 'elsewhere' }
  /** At-most-once: recorded now, run after the acknowledgement. */
  | { readonly kind: 'after-ack' }
  /** It failed alongside others. Its claim is released, and it runs again alone before it counts as failed. */
  | { readonly kind: 'apart'; readonly error: unknown }
  /** The batch's time was up before it started. Its claim is released, unless it is `unclaimed`. */
  | { readonly kind: 'unstarted'; readonly unclaimed?: true }

/** Nothing is left to do, and no row remains. */
export function isGoodEnd(outcome: RunOutcome | undefined): boolean {
  const kind = outcome?.kind
  return kind === 'processed' || kind === 'duplicate' || kind === 'expired' || kind === 'after-ack'
}

/** What a run produces that must be written, or done after the commit. */
export interface RunProducts {
  readonly result: string | undefined
  readonly outgoing: readonly PublishedMessage[]
  readonly intents: readonly NewIntent[]
  readonly afterCommit: readonly (() => unknown)[]
}

/** Indexed by run number; `undefined` if not decided yet. */
export type Outcomes = (RunOutcome | undefined)[]

/** The key of the row in which it waits or is dead. */
export function rowKeyOf<Tx>({ key, mark }: Pick<Run<Tx>, 'key' | 'mark'>): string {
  return mark === undefined ? key : key + mark
}

/**
 * The key of the row of a message that is parked without a claim. It has not been compared with other messages, and
 * another message may have the same key. The key therefore includes the content, so that each message is kept and copies
 * add nothing.
 */
export function unclaimedKeyOf<Tx>({ key, fingerprint }: Pick<Run<Tx>, 'key' | 'fingerprint'>): string {
  return `${key}#unclaimed${Buffer.from(fingerprint ?? []).toString('hex')}`
}

/** Whether this row holds the message: under its key, or parked without a claim. */
export function isRowOf(letter: Pick<StoredParkedMessage, 'key'>, rowKey: string): boolean {
  return letter.key === rowKey || recordKeyOf(letter.key) === rowKey
}

/** Its id says that it was made in the future. It is parked without a claim until then. */
export function isUnborn<Tx>({ failure }: Pick<Run<Tx>, 'failure'>): boolean {
  return failure !== undefined && isJustonceError(failure.error, 'ID_FROM_THE_FUTURE')
}

/** It failed before it could be claimed: if there is a record, it belongs to another copy or message. */
export function isUnclaimed(outcome: RunOutcome | undefined): boolean {
  if (outcome?.kind !== 'failed') return false
  return isJustonceError(outcome.error, 'ID_FROM_THE_FUTURE') || isJustonceError(outcome.error, 'TOO_OLD_TO_KNOW')
}

/** The same for its row, as long as it has not been run. */
export function isParkedUnclaimed({ reason }: Pick<StoredParkedMessage, 'reason'>): boolean {
  return reason === 'ID_FROM_THE_FUTURE' || reason === 'TOO_OLD_TO_KNOW'
}

/** The row in which it has waited for the time in its id: the row is its own, although it has no claim yet. */
export function unclaimedLetter<Tx>({ origin, handler, key, owner }: Run<Tx>): StoredParkedMessage | undefined {
  const { letter } = origin
  if (owner !== undefined || letter === undefined || !isRowOf(letter, key)) return undefined
  return letter.handler === handler.name || handler.formerly.includes(letter.handler) ? letter : undefined
}

/**
 * A message that waited for the time in its id has no claim yet. A row under another key has none either: it holds a
 * message whose key belongs to another one (`KEY_REUSED`), or that reached no handler.
 */
export function isOwnedBy(letter: StoredParkedMessage, rowKey: string): boolean {
  return isRowOf(letter, rowKey) && letter.reason !== 'ID_FROM_THE_FUTURE'
}
