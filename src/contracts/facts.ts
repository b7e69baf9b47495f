/** A text under a name, on which processes agree: who has a lease, how often a message has killed a process, who did what. */
export interface Fact {
  readonly value: string
  /**
   * Changes with every change of the value, and always grows, even if the fact had expired in between. It is at least the time
   * in microseconds, so that it keeps growing when earlier facts are lost: a flushed server, a restored backup.
   */
  readonly revision: number
}

/** A fact with its name. */
export interface NamedFact extends Fact {
  readonly name: string
}

/** A change of a fact, made only if the fact is as expected. */
export interface FactChange {
  /** At most 320 characters, compared in full and case-sensitively. The part before the first space is its kind. */
  readonly name: string
  /** The revision that the fact must have now; `undefined` if it must not exist, or must have expired. */
  readonly from: number | undefined
  /** A value that stays the same keeps its revision: only the expiry changes. */
  readonly value: string
  /** How long the fact stands from now; 0 if it expires immediately, `undefined` if it never expires. */
  readonly forMs: number | undefined
}

/** Time is the database's, at the moment of the change itself, even if the change had to wait for another transaction. */
export interface Facts<Tx> {
  /** One answer per name; `undefined` if the fact does not exist or has expired. */
  read(names: readonly string[]): Promise<readonly (Fact | undefined)[]>
  /** The facts of a kind that have not expired, latest revision first; if revisions are equal, last name first. */
  list(kind: string, limit: number): Promise<readonly NamedFact[]>
  /**
   * Changes each fact that is as its change expects, inside the given transaction, or in a transaction of its own that has
   * committed when this resolves. Resolves to the revision that each fact has now; `undefined` for a fact that is not as
   * expected, which stays unchanged.
   * You must: make sure that processes that name the same facts in different orders do not deadlock; and let no fact that is in
   * the way stand for longer than its own `forMs` from now, in case the clock was ahead when it was made.
   * You may: detect only at the commit that another transaction came first, and reject it with `CLAIM_LOST`.
   * You may assume that names are distinct.
   */
  change(tx: Tx | undefined, changes: readonly FactChange[]): Promise<readonly (number | undefined)[]>
  /**
   * Removes the named facts, whatever their state, or the remains of the expired facts of a kind; inside the given transaction,
   * or in a transaction of its own. Unknown names are no error.
   */
  remove(tx: Tx | undefined, which: readonly string[] | { readonly expiredOf: string }): Promise<void>
}
