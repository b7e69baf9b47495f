/**
 * - `processed`: done for good.
 * - `parked`: it failed, and its parked row owns all further attempts.
 * - `expired`: it came too late, and was skipped as its handler wishes.
 * - `discarded`: a person has given it up.
 */
export type RecordState = 'processed' | 'parked' | 'expired' | 'discarded'

/** What the inbox knows about one (handler, key). */
export interface InboxRecord {
  readonly state: RecordState
  readonly fingerprint: Uint8Array | undefined
  readonly processedAt: Date
  /** JSON text, for handlers that keep their result. */
  readonly result?: string | undefined
}

export interface RecordKey {
  readonly handler: string
  readonly key: string
}

/** A key with what may help the store to find its record sooner; it must find it without, too. */
export interface InboxKey extends RecordKey {
  /** When the message came into being, where its id says so: the same for every copy of it. */
  readonly born?: Date | undefined
}

export interface ClaimRequest extends InboxKey {
  /** A short hash of the content; undefined when the handler does not compare contents. */
  readonly fingerprint: Uint8Array | undefined
  /** It is known to fail: its handler will not be run, only what became of it is recorded. */
  readonly willNotRun?: boolean | undefined
}

export interface ClaimAnswer {
  /**
   * Changes whenever records may have vanished: caches from before it are worthless. You must: have another one after a
   * forget, and wherever it can be recognised that the database is no longer the one that has committed what caches know,
   * because a backup was restored or another server has taken over. A row alone cannot say so, for it comes back with the
   * backup. You may: have another one more often than that.
   */
  readonly epoch: string
  /** One entry for each request, in its order: the record that was there before, or undefined: the claim is ours. */
  readonly existing: readonly (InboxRecord | undefined)[]
  /**
   * The places of those that were born before the horizon and have no record. There may have been one: they are not
   * claimed. Not given: there are none.
   */
  readonly tooOld?: ReadonlySet<number> | undefined
}

export type RecordChange = InboxKey &
  (
    | { readonly state: RecordState; readonly result?: string | undefined }
    /** A claim that this same transaction made and whose handler has not run is given up: there is no record. */
    | { readonly state: 'unclaimed'; readonly result?: undefined }
  )

/** The records "handler h has processed message m". */
export interface Inbox<Tx> {
  /**
   * Claims every key in one statement, plus one look at those that were there already.
   * You must: read the horizon in this same transaction; wait while a rival's uncommitted claim is undecided (up to the transaction's lock timeout, then fail with
   * an error that `classify` calls a conflict); take keys in the given order; treat keys as binary (`a` ≠ `A` ≠ `a `).
   * You may assume: requests are sorted and distinct, one for each handler of each message of a batch; keys are well-formed text without NUL.
   * Not your job: comparing fingerprints, deciding what a record means.
   */
  claim(tx: Tx, requests: readonly ClaimRequest[]): Promise<ClaimAnswer>
  /** Changes records that exist: stores results, marks failures as parked and retried ones as processed, gives up claims. */
  update(tx: Tx, changes: readonly RecordChange[]): Promise<void>
  /** Reads records in a short transaction of their own, one answer each; for people and tests, never for a decision to run. */
  find(keys: readonly RecordKey[]): Promise<readonly (InboxRecord | undefined)[]>
  /**
   * Removes records on purpose, so that their messages may run again, and changes the epoch to one that was never there before,
   * so that no cache still says otherwise. Resolves to how many there were. One whose state is `parked` stays: its parked row
   * owns it. Without any key it changes the epoch alone: for people who know that records are gone.
   */
  forget(tx: Tx, keys: readonly RecordKey[]): Promise<number>
}
