/** A text under a name, on which processes agree: who has a lease, how often a message has killed a process, who did what. */
export interface Fact {
  readonly value: string
  /**
   * Another one with every change of the value, and always a higher one, also when its time was over in between. It is at least
   * the time in microseconds, so that it goes on growing when what was known is lost: a flushed server, a restored backup.
   */
  readonly revision: number
}

/** A fact with its name. */
export interface NamedFact extends Fact {
  readonly name: string
}

export interface FactChange {
  /** At most 320 characters, told apart to the last one and by case. What stands before its first space is its kind. */
  readonly name: string
  /** The revision that it must have now; undefined: it must not be there, or its time must be over. */
  readonly from: number | undefined
  /** A value that stays the same keeps its revision: only its time changes. */
  readonly value: string
  /** How long it stands from now; 0: it ends at once. Undefined: for ever. */
  readonly forMs: number | undefined
}

/** Time is the database's, at the moment of the change itself: also where it has waited for a rival. */
export interface Facts<Tx> {
  /** One answer each; undefined for one that is not there, or whose time is over. */
  read(names: readonly string[]): Promise<readonly (Fact | undefined)[]>
  /** Those of a kind that stand, the latest revision first; of the same revision the last name. */
  list(kind: string, limit: number): Promise<readonly NamedFact[]>
  /**
   * Changes each fact that is as its change expects, inside the given transaction, or in one of its own that has committed when
   * this resolves to the revision that each has now; undefined for one that is not as expected, and stays. You must: let no two
   * processes that name the same facts in different orders stop each other; and let no fact that is in the way stand for longer
   * than its own `forMs` from now, in case the clock was ahead when it was made. You may: find out only at the commit that a
   * rival came first, and reject it. You may assume that names are distinct.
   */
  change(tx: Tx | undefined, changes: readonly FactChange[]): Promise<readonly (number | undefined)[]>
  /**
   * Removes these, whatever they are, or what is left of those of a kind whose time is over; inside the given transaction, or in
   * one of its own. Unknown ones are no error.
   */
  remove(tx: Tx | undefined, which: readonly string[] | { readonly overOf: string }): Promise<void>
}
