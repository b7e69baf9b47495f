const made = new WeakSet<Error>()

/** An error like those that SQLite raises when another connection is in the way; the same work succeeds when run again. */
export function transientError(): Error {
  const error = new Error('database is locked (made by prove(): a transient error)')
  made.add(error)
  // As node:sqlite and better-sqlite3 put it.
  return Object.assign(error, { code: 'ERR_SQLITE_ERROR', errcode: 5, errstr: 'database is locked' })
}

export function isTransientError(error: unknown): boolean {
  return error instanceof Error && made.has(error)
}

/** Has Postgres itself fail, so that the transaction is as aborted as it would be in earnest. */
export const failInPostgres = `DO $prove$ BEGIN
  RAISE EXCEPTION 'could not serialize access (made by prove(): a transient error)' USING ERRCODE = '40001';
END $prove$`
