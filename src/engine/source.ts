import type { Delivery, InsideTransaction, Positioned } from '../contracts/index.ts'
import type { RunOutcome } from './items.ts'

export interface StoredPositions {
  readonly group: string
  /** `both`: a message that comes under two positions is recognised by its id, too. */
  readonly dedup: Positioned['dedup']
  /** Has their partitions read again from where the store stands. Must not reject. */
  reread(deliveries: readonly Delivery[]): Promise<void>
}

/** Where a batch came from, as far as the engine needs it. */
export interface Source {
  /** Present when the transport lives in the store's own database. */
  readonly inside: InsideTransaction | undefined
  /** Present when the positions of what was handled are kept in the store. */
  readonly positions?: StoredPositions | undefined
  /** Tells the broker that it may forget them. Must not reject: what could not be told comes again and is a duplicate. */
  acknowledge(deliveries: readonly Delivery[]): Promise<void>
  /** Told what became of each run, once that is committed. */
  committed?(handler: string, outcome: RunOutcome): void
  /** Told of an at-most-once run that has failed after it was committed. */
  lost?(handler: string, error: unknown): void
  /** Told of a message that no handler could take, once it is kept as a dead letter. */
  refused?(error: Error): void
}
