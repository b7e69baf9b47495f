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
