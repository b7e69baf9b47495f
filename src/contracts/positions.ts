import type { Delivery } from './transport.ts'

/** What one consumer at a time owns and reads in order: a partition of a topic. */
export interface Partition {
  readonly source: string
  readonly partition: string
}

/** Where to continue reading. */
export interface Position {
  /** In the broker's own format: the position after the last message that was handled, including markers and gaps. */
  readonly next: string
  /** The incarnation of the source to which it belongs (a topic's id): in another incarnation the numbers start again. */
  readonly incarnation: string
}

/** Moves the position of a partition, if it is where it is expected. */
export interface PositionMove extends Partition {
  /** What we last stored or loaded; `undefined` if nothing is stored. Never derived from an offset, because offsets have gaps. */
  readonly expected: Position | undefined
  readonly to: Position
}

/** Positions kept in the same transaction as the effects: one row for each partition instead of one for each message. */
export interface Positions<Tx> {
  /** One answer per partition; `undefined` if nothing is stored. */
  load(group: string, partitions: readonly Partition[]): Promise<readonly (Position | undefined)[]>
  /**
   * Moves each position from what is expected to its new value, waiting for other transactions as a claim does. One answer
   * per move: `undefined` if it was moved; otherwise what is stored there instead, and the position is not moved. This is
   * the first statement of a transaction, so that a process that has lost a partition detects it before any effect. You may
   * assume that moves are sorted and distinct.
   */
  move(tx: Tx, group: string, moves: readonly PositionMove[]): Promise<readonly (Position | 'none' | undefined)[]>
}

/**
 * Where a delivery stands in its partition. The deliveries of one reading form a chain that starts at what `restore` has
 * answered: each begins where the one before it ends. So a sequence of them that begins at the position in the store can
 * be neither another consumer's nor a second copy.
 */
export interface Place {
  readonly partition: string
  /** The reading position before it; `undefined` at the beginning, with nothing stored. */
  readonly from: Position | undefined
  /** Where to continue when it has been handled. Positions grow, but not always by one. */
  readonly to: Position
}

/**
 * The stored position of each partition; `undefined` if nothing is stored. A transport asks for each partition that is assigned,
 * or must be read again, before anything of it is delivered, and begins there instead of where the broker says. A position of
 * another incarnation stops it with `SOURCE_REPLACED`.
 * You must: if the store knows nothing about a partition, let the broker keep where its reading began, and begin there again if
 * the store has forgotten what it knew (a restored backup); ask again now and then about partitions in which nothing happens.
 */
export type Restore = (partitions: readonly Partition[]) => Promise<readonly (Position | undefined)[]>

/**
 * For a subscriber of a log: a partition has one consumer at a time, which reads it in order and can be given a place to begin.
 * Its deliveries have a `place`, and each partition is one lane.
 */
export interface Positioned {
  /** Names the consumer whose positions these are (a consumer group). */
  readonly group: string
  /** How copies are recognised: by their ids alone, in which case no positions are kept; by their positions; or by both. */
  readonly dedup: 'id' | 'position' | 'both'
  /**
   * These deliveries do not begin at the position in the store, because another consumer has moved on. Settles everything
   * that was read of their partitions without acknowledging it to the broker; partitions that are still ours are read
   * again, from where `restore` says. A delivery of an earlier reading is silently skipped.
   */
  reread(deliveries: readonly Delivery[]): Promise<void>
}
