const mark = '(made by prove(): a transient error)'

/** An error like those of SQLite when another connection is in the way. The same work succeeds when it is retried. */
export function transientError(): Error {
  // As node:sqlite words it.
  const error = new Error(`database is locked ${mark}`)
  return Object.assign(error, { code: 'ERR_SQLITE_ERROR', errcode: 5, errstr: 'database is locked' })
}

export function isMadeByProve(error: unknown): boolean {
  return error instanceof Error && error.message.includes(mark)
}

/** Makes Postgres itself fail, so that the transaction is really aborted. */
export const failInPostgres = `DO $prove$ BEGIN
  RAISE EXCEPTION 'could not serialize access ${mark}' USING ERRCODE = '40001';
END $prove$`

/** Makes MySQL itself fail, as if a row were locked for too long. Earlier statements are kept, as in a real lock timeout. */
export const failInMysql = `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'Lock wait timeout ${mark}'`
