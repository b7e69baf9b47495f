const mark = '(made by prove(): a transient error)'

/** An error like those that SQLite raises when another connection is in the way; the same work succeeds when run again. */
export function transientError(): Error {
  // As node:sqlite puts it.
  const error = new Error(`database is locked ${mark}`)
  return Object.assign(error, { code: 'ERR_SQLITE_ERROR', errcode: 5, errstr: 'database is locked' })
}

export function isMadeByProve(error: unknown): boolean {
  return error instanceof Error && error.message.includes(mark)
}

/** Has Postgres itself fail, so that the transaction is as aborted as it would be in earnest. */
export const failInPostgres = `DO $prove$ BEGIN
  RAISE EXCEPTION 'could not serialize access ${mark}' USING ERRCODE = '40001';
END $prove$`

/** Has MySQL itself fail, as it does when a row is held for too long; what was done before stays done there, too. */
export const failInMysql = `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'Lock wait timeout ${mark}'`
