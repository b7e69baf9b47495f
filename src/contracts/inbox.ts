/**
 * - `processed`: done for good.
 * - `parked`: it failed, and its parked row owns all further attempts.
 * - `expired`: it came too late and was skipped, as its handler is configured.
 * - `discarded`: an operator has given it up.
 */
export type RecordState = 'processed' | 'parked' | 'expired' | 'discarded'

/** What the inbox knows about one (handler, key). */
export interface InboxRecord {
  readonly state: RecordState
  readonly fingerprint: Uint8Array | undefined
  /** When it was claimed or last updated, by the database's clock. */
  readonly processedAt: Date
  /** JSON text, for handlers that keep their result. */
  readonly result?: string | undefined
}

/** The idempotency key: a handler, and the key of a message for it. */
export interface RecordKey {
  readonly handler: string
  readonly key: string
}

/** A key with a hint that may help the store to find its record sooner. The store must find the record without it, too. */
export interface InboxKey extends RecordKey {
  /** When the message came into being, if its id says so: the same for every copy of it. */
  readonly born?: Date | undefined
}

/** A record that a transaction wants to make before its handler runs. */
export interface ClaimRequest extends InboxKey {
  /** A short hash of the content; `undefined` if the handler does not compare contents. */
  readonly fingerprint: Uint8Array | undefined
  /** It is known to fail: its handler will not run, and only its outcome is recorded. */
  readonly willNotRun?: boolean | undefined
}

/** What a store answers to claims. */
export interface ClaimAnswer {
  /**
   * Changes whenever records may have vanished: caches from before are worthless. You must: change it after a forget, and
   * whenever it can be detected that the database is no longer the one that committed what caches know, because a backup
   * was restored or another server has taken over. A row alone cannot show that, because the row is restored with the
   * backup. You may: change it more often than that.
   */
  readonly epoch: string
  /** One entry per request, in order: the record that existed before, or `undefined` if the claim is ours. */
  readonly existing: readonly (InboxRecord | undefined)[]
  /**
   * The indexes of requests that were born before the horizon and have no record. A record may have existed, so they
   * are not claimed. If not given, there are none.
   */
  readonly tooOld?: ReadonlySet<number> | undefined
}

/** What becomes of a record at the end of a transaction. */
export type RecordChange = InboxKey & {
  /** This same transaction has claimed it, with the same `born`. You may rely on that, and reject if its record is not there. */
  readonly claimed?: boolean | undefined
} & (
    | { readonly state: RecordState; readonly result?: string | undefined }
    /** Releases a claim that this same transaction made and whose handler has not run: no record remains. */
    | { readonly state: 'unclaimed'; readonly result?: undefined }
  )

/** An estimate, as old as what the database knows of its tables. */
export interface RecordsSize {
  /** `undefined` if only counting could tell. */
  readonly rows: number | undefined
  /** `undefined` if nothing knows. */
  readonly bytes: number | undefined
  /** `database`: it says only how much there is of everything in it, other tables and keys included. Default: `records`. */
  readonly of?: 'records' | 'database' | undefined
}

/** The records "handler h has processed message m". */
export interface Inbox<Tx> {
  /**
   * Claims every key in one statement, plus one lookup of those that already existed.
   * You must: read the horizon in this same transaction; wait while another transaction's uncommitted claim is undecided (up to
   * the transaction's lock timeout, then fail with an error that `classify` calls a conflict); take keys in the given order;
   * treat keys as binary (`a` ≠ `A` ≠ `a `).
   * You may assume: requests are sorted and distinct, one for each handler of each message of a batch; keys are well-formed text
   * without NUL.
   * Not your job: comparing fingerprints, deciding what a record means.
   */
  claim(tx: Tx, requests: readonly ClaimRequest[]): Promise<ClaimAnswer>
  /**
   * Changes existing records: stores results, marks failures as parked and retried messages as processed, releases claims.
   * You must: replace the result, also by none, and set `processedAt` to now, whether or not the state changes.
   */
  update(tx: Tx, changes: readonly RecordChange[]): Promise<void>
  /**
   * Reads records in a short transaction of its own, one answer per key. For operators and tests, never for deciding whether
   * to run.
   */
  find(keys: readonly RecordKey[]): Promise<readonly (InboxRecord | undefined)[]>
  /**
   * About how many records there are, and how much room they and their indexes take. You must: answer from what the database already
   * knows, never by counting rows. Leave it out where it knows nothing.
   */
  size?(): Promise<RecordsSize | undefined>
  /**
   * Removes records on purpose, so that their messages may run again, and changes the epoch to one that never existed before,
   * so that no cache still says otherwise. Resolves to how many records there were. A record whose state is `parked` stays: its
   * parked row owns it. Without any key it only changes the epoch: for operators who know that records are gone.
   */
  forget(tx: Tx, keys: readonly RecordKey[]): Promise<number>
}
