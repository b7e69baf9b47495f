import type { Delivery } from './transport.ts'

/** What one consumer at a time owns and reads in order: a partition of a topic. */
export interface Partition {
  readonly source: string
  readonly partition: string
}

/** Where to go on reading. */
export interface Position {
  /** In the broker's own spelling: the position after the last message that was handled, markers and gaps included. */
  readonly next: string
  /** Which incarnation of the source it counts in (a topic's id): in another one the numbers have begun anew. */
  readonly incarnation: string
}

export interface PositionMove extends Partition {
  /** What we last stored or loaded; undefined: nothing is stored. Never guessed from an offset: those have gaps. */
  readonly expected: Position | undefined
  readonly to: Position
}

/** Positions kept in the same transaction as the effects: one row for each partition instead of one for each message. */
export interface Positions<Tx> {
  /** One answer each; undefined: nothing is stored. */
  load(group: string, partitions: readonly Partition[]): Promise<readonly (Position | undefined)[]>
  /**
   * Moves each from what is expected to where it goes on, waiting for rivals as a claim does. One answer each: undefined
   * when it was moved, and otherwise what is stored there instead; then it is not moved. The first statement of a
   * transaction, so that whoever has lost a partition finds out before any effect. You may assume that moves are sorted and
   * distinct.
   */
  move(tx: Tx, group: string, moves: readonly PositionMove[]): Promise<readonly (Position | 'none' | undefined)[]>
}

/**
 * Where a delivery stands in its partition. Deliveries of one reading form a chain, from what `restore` has answered on:
 * each begins where the one before it ends. So a row of them that begins where the store stands can be neither somebody
 * else's nor a second copy.
 */
export interface Place {
  readonly partition: string
  /** Where reading stood before it; undefined: at the beginning, with nothing stored. */
  readonly from: Position | undefined
  /** Where to go on when it has been handled. Positions grow, but not always by one. */
  readonly to: Position
}

/**
 * Where the store stands in each of these; undefined: nothing is stored. A transport asks for each partition that is assigned, or
 * to be read again, before anything of it is delivered, and begins there instead of where the broker says. A position of another
 * incarnation stops it with `SOURCE_REPLACED`.
 * You must: let the broker keep where reading of a partition began of which the store knows nothing, and begin there again when
 * it has forgotten what it knew (a restored backup); ask again now and then about partitions in which nothing happens.
 */
export type Restore = (partitions: readonly Partition[]) => Promise<readonly (Position | undefined)[]>

/**
 * For a subscriber of a log: a partition has one consumer at a time, who reads it in order and can be told where to begin. Its
 * deliveries have a `place` and are of one lane for each partition.
 */
export interface Positioned {
  /** Names the consumer whose positions these are (a consumer group). */
  readonly group: string
  /** How copies are recognised: by their ids alone, so that no positions are kept; by their positions; or by both. */
  readonly dedup: 'id' | 'position' | 'both'
  /**
   * The store does not stand where these deliveries begin: somebody else has moved on. Settles whatever was read of their
   * partitions without telling the broker; those that are still ours are read again, from where `restore` says. A delivery
   * of an earlier reading is silently skipped.
   */
  reread(deliveries: readonly Delivery[]): Promise<void>
}
