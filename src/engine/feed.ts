import type { Delivery, InsideTransaction, Positioned } from '../contracts/index.ts'
import type { RunOutcome } from './items.ts'

export interface StoredPositions {
  readonly group: string
  /** `both`: a message that arrives at two positions is also recognised by its id. */
  readonly dedup: Positioned['dedup']
  /** Has their partitions read again from the position in the store. Must not reject. */
  reread(deliveries: readonly Delivery[]): Promise<void>
}

/** Where a batch came from, as far as the engine needs it. */
export interface Feed {
  /** Present when the transport lives in the store's own database. */
  readonly inside: InsideTransaction | undefined
  /** Present when the positions of what was handled are kept in the store. */
  readonly positions?: StoredPositions | undefined
  /** How long a batch waits for rows that others hold. Default: as long as a batch may take. */
  lockTimeoutMs?(): number
  /**
   * Resolves when the handlers of a batch may be called; the function that it resolves to says that they have been. Absent if they always
   * may. The transaction is open by then, so nobody may be made to wait for long.
   */
  turn?(): Promise<() => void>
  /** Acknowledges the deliveries. Must not reject: a delivery that could not be acknowledged arrives again and is a duplicate. */
  acknowledge(deliveries: readonly Delivery[]): Promise<void>
  /** Called with the outcome of each run, once it is committed. */
  committed?(handler: string, outcome: RunOutcome): void
  /** Called when an at-most-once run has failed after it was committed. */
  lost?(handler: string, error: unknown): void
  /** Called when a message that no handler could take has been kept as a dead letter. */
  refused?(error: Error): void
}
