import type { Delivery, InboxRecord, Message, OutgoingMessage, StoredParkedMessage } from '../contracts/index.ts'
import { recordKeyOf } from '../encoding/record-key.ts'
import { isJustonceError, type JustonceError } from '../errors/index.ts'
import type { Handler } from './handler.ts'
import type { Verdict } from './recovery/failure-policy.ts'
import type { Reservation } from './retries/reservation.ts'

/** One delivery that can be handled, with everything its handlers need. */
export interface Work<Tx> {
  readonly delivery: Delivery
  /** In registration order. */
  readonly runs: readonly Run<Tx>[]
  readonly origin: Origin
}

/** A delivery and what is to be done with it; neither: it only counts as handled. */
export interface Item<Tx> {
  readonly delivery: Delivery
  readonly work?: Work<Tx>
  readonly refusal?: Refusal
}

/** The parked row that it was taken from. */
export function letterOf<Tx>({ work, refusal }: Item<Tx>): StoredParkedMessage | undefined {
  return work?.origin.letter ?? refusal?.letter
}

/** Where a message comes from, as far as that decides what may become of it. */
export interface Origin {
  /** The parked row that it was taken from; then there is no broker to tell. */
  readonly letter?: StoredParkedMessage | undefined
  /** What we know of that row's reservation by now. */
  readonly reservation?: Reservation | undefined
  /** Its position says whether it was handled; it has no record of its own, and this tells it apart from others of its id. */
  readonly mark?: string | undefined
  /** Counted as a suspect under this id, until it has ended otherwise than by a death. */
  readonly suspect?: string | undefined
  /** Why none of its handlers may be run any more. */
  readonly condemned?: JustonceError | undefined
  /** What a breaker stops of it is parked, so that the rest can go on; otherwise it is left to the caller. */
  readonly parksStopped?: boolean | undefined
}

/** One handler for one message: what is claimed, run and recorded. */
export interface Run<Tx> {
  /** Its number among all that were prepared together; its outcome is found under it, in whichever transaction it runs. */
  readonly index: number
  /** The number of the first run of its message. */
  readonly first: number
  readonly delivery: Delivery
  readonly origin: Origin
  readonly handler: Handler<Tx>
  readonly message: Message
  /** Shared by all that have the same message, copies of this run included. */
  readonly handout: { wasGiven: boolean }
  readonly key: string
  /** It is known by its position, and others may have its key. */
  readonly mark?: string | undefined
  readonly fingerprint: Uint8Array | undefined
  /** When the message came into being, where its identity says so. */
  readonly born: Date | undefined
  /** The parked row that owns it. Without one it has to be claimed. */
  readonly owner: StoredParkedMessage | undefined
  /** It came too late, and is to be skipped. */
  readonly expired: boolean
  /** Set when it is known to fail (it does not fit the handler's schema, or its time was up before): it is not run. */
  readonly failure: { readonly error: unknown } | undefined
  /** The store has refused its row: the texts in it are to be ASCII, which every database can hold. */
  readonly isPlain?: boolean | undefined
}

/** A delivery that no handler can take, and why; it becomes a dead letter. */
export interface Refusal {
  readonly delivery: Delivery
  readonly error: JustonceError
  /** The parked row that it was taken from. */
  readonly letter: StoredParkedMessage | undefined
  /** What becomes of that row. */
  readonly verdict?: Verdict | undefined
  /** It is known by its position. */
  readonly mark?: string | undefined
  /**
   * For what could not be kept otherwise. `plain`: all of it, with nothing in the row's texts that a database could refuse.
   * `note`: only what it was, because it is too large.
   */
  readonly form?: 'plain' | 'note' | undefined
}

/** What became of a run in one attempt at a transaction. */
export type RunOutcome =
  | { readonly kind: 'processed'; readonly products: RunProducts }
  | { readonly kind: 'duplicate'; readonly record: InboxRecord }
  /** Its parked row owns it already. */
  | { readonly kind: 'parked' }
  | { readonly kind: 'conflict'; readonly record: InboxRecord }
  | { readonly kind: 'failed'; readonly error: unknown; readonly verdict: Verdict }
  /** An earlier handler of the message, or an earlier message of its key, has failed, and this one follows it; or its handler is failing on everything. */
  | {
      readonly kind: 'waiting'
      readonly behind: 'handler' | 'message' | 'breaker'
      /** The name of its handler that it is parked under, where that is an old one. */
      readonly under?: string | undefined
    }
  /** It came too late, and was skipped; `unclaimed`: so late that nobody can know of a record. */
  | { readonly kind: 'expired'; readonly unclaimed?: true }
  /** Its parked row has changed hands meanwhile: whoever has it will say what became of it. */
  | { readonly kind: 'elsewhere' }
  /** At most once: recorded now, run after the acknowledgement. */
  | { readonly kind: 'after-ack' }
  /** It failed beside others: its claim is given back, and it runs again alone before it counts as failed. */
  | { readonly kind: 'apart'; readonly error: unknown }
  /** The batch's time was up before it began; its claim is given back, unless it is `unclaimed`. */
  | { readonly kind: 'unstarted'; readonly unclaimed?: true }

/** Nothing of it is left to do, and nothing stays in a row. */
export function isGoodEnd(outcome: RunOutcome | undefined): boolean {
  const kind = outcome?.kind
  return kind === 'processed' || kind === 'duplicate' || kind === 'expired' || kind === 'after-ack'
}

/** What a run leaves behind that has to be written, or done after the commit. */
export interface RunProducts {
  readonly result: string | undefined
  readonly outgoing: readonly OutgoingMessage[]
  readonly afterCommit: readonly (() => unknown)[]
}

/** By the numbers of the runs; undefined: not decided yet. */
export type Outcomes = (RunOutcome | undefined)[]

/** The key of the row in which it waits, or is dead. */
export function rowKeyOf<Tx>({ key, mark }: Pick<Run<Tx>, 'key' | 'mark'>): string {
  return mark === undefined ? key : key + mark
}

/**
 * The key of the row of what is parked without a claim. Nobody has compared it with others of its key, and another message
 * may have the same one: its content is part of it, so that each is kept and copies add nothing.
 */
export function unclaimedKeyOf<Tx>({ key, fingerprint }: Pick<Run<Tx>, 'key' | 'fingerprint'>): string {
  return `${key}#unclaimed${Buffer.from(fingerprint ?? []).toString('hex')}`
}

/** It waits, or is dead, in this row: under its key, or as what was parked without a claim. */
export function isRowOf(letter: Pick<StoredParkedMessage, 'key'>, rowKey: string): boolean {
  return letter.key === rowKey || recordKeyOf(letter.key) === rowKey
}

/** It says that it was made in the future, and is parked without a claim until then. */
export function isUnborn<Tx>({ failure }: Pick<Run<Tx>, 'failure'>): boolean {
  return failure !== undefined && isJustonceError(failure.error, 'ID_FROM_THE_FUTURE')
}

/** It failed before it could be claimed: a record that may be there is somebody else's. */
export function isUnclaimed(outcome: RunOutcome | undefined): boolean {
  if (outcome?.kind !== 'failed') return false
  return isJustonceError(outcome.error, 'ID_FROM_THE_FUTURE') || isJustonceError(outcome.error, 'TOO_OLD_TO_KNOW')
}

/** The same of its row, as long as nobody has run it. */
export function isParkedUnclaimed({ reason }: Pick<StoredParkedMessage, 'reason'>): boolean {
  return reason === 'ID_FROM_THE_FUTURE' || reason === 'TOO_OLD_TO_KNOW'
}

/** The row in which it has waited for its time to come: its own, although it has no claim yet. */
export function unclaimedLetter<Tx>({ origin, handler, key, owner }: Run<Tx>): StoredParkedMessage | undefined {
  const { letter } = origin
  if (owner !== undefined || letter === undefined || !isRowOf(letter, key)) return undefined
  return letter.handler === handler.name || handler.formerly.includes(letter.handler) ? letter : undefined
}

/**
 * What waited for its time to come has no claim yet. Nor has a row under another key: that is of a message whose key
 * belongs to another one (`KEY_REUSED`), or that reached no handler.
 */
export function isOwnedBy(letter: StoredParkedMessage, rowKey: string): boolean {
  return isRowOf(letter, rowKey) && letter.reason !== 'ID_FROM_THE_FUTURE'
}
