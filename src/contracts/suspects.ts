/**
 * Messages that were being handled when a process died, and may be what killed it. Counted before they run again, so
 * that a message which kills every process it meets is found out.
 */
export interface Suspects<Tx> {
  /** How many attempts of each have begun and not ended; 0 for one that is not suspected. One answer each. */
  look(ids: readonly string[]): Promise<readonly number[]>
  /**
   * Counts one more attempt of each, in a transaction of its own that has committed when this resolves. You may assume
   * that ids are distinct and made of at most 100 letters and digits.
   */
  begin(ids: readonly string[]): Promise<void>
  /** They have ended otherwise than by a death: nothing is held against them. Unknown ones are no error. */
  clear(tx: Tx, ids: readonly string[]): Promise<void>
  /** Takes one attempt back, of a process that ends on purpose before it has come to them. */
  forgive(ids: readonly string[]): Promise<void>
  /** Removes those whose last beginning is longer ago than this: their messages come no more. By the database's clock. */
  forget(olderThanMs: number): Promise<void>
}
