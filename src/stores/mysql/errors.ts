import type { StoreTrouble } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { networkCodes, ownTrouble } from '../sql/trouble.ts'

export const duplicateKey = 1062
export const deadlock = 1213
export const lockTimeout = 1205
/** A row was changed after the snapshot of a transaction with stricter isolation than ours. */
export const changedSinceSnapshot = 1020

/** The number of an error that the server has sent. */
export function errorNumber(error: unknown): number | undefined {
  if (!(error instanceof Error) || isJustonceError(error)) return undefined
  const { errno, sqlState } = error as { errno?: unknown; sqlState?: unknown }
  return typeof errno === 'number' && errno > 0 && typeof sqlState === 'string' ? errno : undefined
}

/** The codes that mysql2 and Node report when there is no connection. */
const lostCodes = new Set([
  ...['PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT', 'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR'],
  ...['PROTOCOL_ENQUEUE_AFTER_QUIT', 'PROTOCOL_PACKETS_OUT_OF_ORDER', 'PROTOCOL_UNEXPECTED_PACKET'],
  ...networkCodes,
])
const lostMessages =
  /^(?:Can't add new command when connection is in closed state|Can't write in closed state|Connection lost|Connection is closed)/

/** Reported by a server that shuts down, or about a connection that is gone: shutting down, aborted, killed, idle too long. */
const lostNumbers = new Set([1053, 1077, 1079, 1080, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2006, 2013, 2055, 4031])

/**
 * A full disk, no memory, no more connections, a server that accepts no writes, a cluster that is not ready. 1290 only
 * sometimes means that; see below. A full table (1114) is not included: with the MEMORY engine it concerns only those who
 * fill it. If the disk is full, our own tables are full as well, and `explained` reports that.
 */
const unavailableNumbers = new Set([1021, 1037, 1040, 1041, 1047, 1129, 1203, 1226, 1836, 3100, 3169])

/**
 * Deadlock, lock timeout, an XA transaction that was rolled back. Also a statement that was killed or took too long this
 * time, mostly because it waited for a lock; it is retried a limited number of times.
 */
const conflictNumbers = new Set([1020, 1205, 1213, 1317, 1402, 1613, 1614, 1969, 3024, 3058, 3101, 3572])

/**
 * Our own statement is refused: a privilege is missing, or someone has left the session in a bad state (another role, locked
 * tables, an XA transaction, a limit on joins, statements in the log instead of rows). Another session may work.
 */
const deniedNumbers = new Set([1044, 1142, 1143, 1227, 1370, 1099, 1100, 1104, 1223, 1399, 1665])

/** An option of the server or of the session forbids the statement: it may be read only, or the session may have no memory left. */
const forbidden = 1290

export function classify(error: unknown): StoreTrouble {
  // A deadlock ends the whole transaction, and the handler that ran into it is not to blame.
  if (isJustonceError(error)) return error.code === 'TX_ENDED' ? classify(error.cause) : ownTrouble(error)
  const number = errorNumber(error)
  if (isLostConnection(error)) return 'unavailable'
  if (number === undefined) return 'none'
  if (conflictNumbers.has(number)) return 'conflict'
  return unavailableNumbers.has(number) || isDiskFull(error) || isReadOnly(error) ? 'unavailable' : 'none'
}

export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error) || isJustonceError(error)) return false
  const number = errorNumber(error)
  if (number !== undefined) return lostNumbers.has(number)
  return lostCodes.has(String((error as { code?: unknown }).code)) || lostMessages.test(error.message)
}

/** Whether the server has rolled back the whole transaction, not only the statement. The next statement would stand alone. */
export function endsTransaction(error: unknown, timeoutsDo: boolean): boolean {
  const number = errorNumber(error)
  if (number === lockTimeout) return timeoutsDo
  return number === deadlock || number === 1206 || (number === 1305 && isMissingSavepoint(error))
}

/** A missing procedure has the same number. */
export function isMissingSavepoint(error: unknown): boolean {
  return errorNumber(error) === 1305 && messageOf(error).startsWith('SAVEPOINT')
}

function isDiskFull(error: unknown): boolean {
  const number = errorNumber(error)
  if (number === 1021) return true
  // Writing a file failed, or the engine did, with the system's "no space left".
  return (number === 3 || number === 1026 || number === 1030) && /\b28\b|No space left/.test(messageOf(error))
}

function isReadOnly(error: unknown): boolean {
  return errorNumber(error) === forbidden && /read[-_]only/.test(messageOf(error))
}

/**
 * mysql2 attaches the statement to its errors, with all values written into it, and errors go into logs and events. Only the
 * text that its author wrote is kept, if there is one, with placeholders for the values.
 */
export function withoutValues(error: unknown, text?: string): unknown {
  if (!(error instanceof Error) || !('sql' in error)) return error
  if (text === undefined) delete error.sql
  else error.sql = text
  return error
}

/** Explains the cause of a failed statement of ours, if it is not obvious. */
export function explained(error: unknown): unknown {
  const says = `The server says: ${messageOf(error)}.`
  const number = errorNumber(error)
  if (number === 1146 || number === 1049) return new JustonceError('SCHEMA_MISSING', { message: says, cause: error })
  if (number === 1054) return new JustonceError('SCHEMA_OLD', { message: says, cause: error })
  if (number !== undefined && (deniedNumbers.has(number) || (number === forbidden && !isReadOnly(error))))
    return new JustonceError('STORE_DENIED', { message: says, cause: error })
  if (isDiskFull(error) || number === 1114) return new JustonceError('STORE_FULL', { message: says, cause: error })
  if (!(error instanceof Error) || isJustonceError(error)) return error
  if (error.message === 'Pool is closed.')
    return new JustonceError('STORE_CLOSED', { message: 'The pool of the MySQL store has ended.', cause: error })
  if (error.message === 'No connections available.' || error.message === 'Queue limit reached.')
    return new JustonceError('STORE_BUSY', { message: `The pool says: ${error.message}`, cause: error })
  return error
}

/** Whether the session is, or may be, the cause. */
export function isBadSession(error: unknown): boolean {
  return isJustonceError(error, 'STORE_DENIED')
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
