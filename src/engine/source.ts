import type { Delivery, InsideTransaction } from '../contracts/index.ts'
import type { PositionLedger } from './position-ledger.ts'
import type { RunOutcome } from './work.ts'

/** Where a batch came from, as far as the engine needs it. */
export interface Source {
  /** Present when the transport lives in the store's own database. */
  readonly inside: InsideTransaction | undefined
  /** Present when the positions of what was handled are kept in the store. */
  readonly positions?: PositionLedger | undefined
  /** The same as a record: with it a message that comes under two positions is recognised by its id, too. */
  readonly dedup?: 'id' | 'position' | 'both' | undefined
  /** Takes what handlers publish, in their own transaction. Not given: that goes to the outbox. */
  readonly outlet?: InsideTransaction | undefined
  /** Tells the broker that it may forget them. Must not reject: what could not be told comes again and is a duplicate. */
  acknowledge(deliveries: readonly Delivery[]): Promise<void>
  /** Has the broker deliver them again after the delay. Must not reject. Not given: the broker cannot do that. */
  returnLater?(deliveries: readonly Delivery[], delayMs: number): Promise<void>
  /** Told what became of each run, once that is committed. */
  committed?(handler: string, outcome: RunOutcome): void
  /** Told of an at-most-once run that has failed after it was committed. */
  lost?(handler: string, error: unknown): void
  /** Told of a message that no handler could take, once it is kept as a dead letter. */
  refused?(error: Error): void
}
