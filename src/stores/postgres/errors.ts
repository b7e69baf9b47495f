import type { StoreTrouble } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { networkCodes, ownTrouble } from '../sql/trouble.ts'
import { sealMark } from './transactions/seal.ts'
import { goneIn, swallowedIn } from './transactions/swallowed.ts'

/** The SQLSTATE of an error that the server has sent. */
export function sqlState(error: unknown): string | undefined {
  const code = property(error, 'code')
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && property(error, 'severity') !== undefined
    ? code
    : undefined
}

/** The codes that the client libraries and Node report when there is no connection; none of them is a SQLSTATE. */
const lostCodes = new Set([
  ...['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'CONNECTION_ENDED', 'CONNECT_TIMEOUT'],
  ...networkCodes,
])
const lostMessages =
  /^(?:Connection terminated|Connection ended|Client has encountered a connection error|Client was closed and is not queryable|timeout exceeded when trying to connect|timeout expired|Query read timeout|Cannot use a pool after calling end)/

/** `pg` has no code for the end of its pool. */
export function isClosedPool(error: unknown): boolean {
  return property(error, 'code') === 'CONNECTION_ENDED' || /^Cannot use a pool after/.test(messageOf(error))
}

export function classify(error: unknown): StoreTrouble {
  if (isJustonceError(error)) return ownTrouble(error)
  const state = sqlState(error)
  if (state !== undefined) return stateTrouble(state)
  return isLostConnection(error) ? 'unavailable' : 'none'
}

function stateTrouble(state: string): StoreTrouble {
  // Deadlock, serialization failure, lock timeout. Also 57014: a statement_timeout or a cancel means that it took too long
  // this time, mostly because it waited for a lock; it is retried a limited number of times.
  if (['40P01', '40001', '55P03', '57014'].includes(state)) return 'conflict'
  // 08 connection, 53 resources (connections, disk, memory), 57P0x shutdown and idle timeouts, 25P03 the idle timeout in a
  // transaction, 25P04 its time limit, 58 the server's disk, 25006 a standby after a failover.
  return /^(?:08|53[0-3]|57P0|58|25P0[34]|25006)/.test(state) ? 'unavailable' : 'none'
}

export function isLostConnection(error: unknown): boolean {
  if (!(error instanceof Error) || isJustonceError(error)) return false
  const state = sqlState(error)
  // FATAL and PANIC end the session. `pg` knows them only in the language of the server, so codes count, too.
  if (state !== undefined)
    return /^(?:FATAL|PANIC)$/.test(String(property(error, 'severity'))) || /^(?:08|57P0|25P0[34])/.test(state)
  return lostCodes.has(String(property(error, 'code'))) || lostMessages.test(error.message)
}

/**
 * Whether the server does not know the prepared statement (any more), has another one of that name, or cannot run it as it
 * was prepared: `DISCARD ALL`, `DEALLOCATE ALL`, a pooler, a change of the tables.
 */
export function isVanished(error: unknown): boolean {
  const state = sqlState(error)
  return (
    state === '26000' ||
    state === '42P05' ||
    (state === '0A000' && property(error, 'routine') === 'RevalidateCachedQuery')
  )
}

/**
 * Whether someone seems to have left the session in a state in which our statements fail (`SET ROLE`,
 * `default_transaction_read_only`). Another connection may work.
 */
export function isBadSession(error: unknown): boolean {
  let each = error
  for (let depth = 0; each !== undefined && depth < causesRead; depth++) {
    if (sqlState(each) === '25006' || isJustonceError(each, 'STORE_DENIED')) return true
    each = property(each, 'cause')
  }
  return false
}

/** An error thrown by a handler may be its own cause. */
const causesRead = 10

/** Whether someone else's commit has run into the seal. */
export function isBrokenSeal(error: unknown): boolean {
  return sqlState(error) === '22P02' && messageOf(error).includes(sealMark)
}

/** Explains the cause of a failed statement of ours, if it is not obvious. */
export function explained(error: unknown): unknown {
  switch (sqlState(error)) {
    case '42P01':
    case '3F000':
      return new JustonceError('SCHEMA_MISSING', { message: `Postgres says: ${messageOf(error)}.`, cause: error })
    case '42703':
      return new JustonceError('SCHEMA_OLD', { message: `Postgres says: ${messageOf(error)}.`, cause: error })
    case '42501':
    // A unique index is missing without which nothing may be stored: records could not be told apart.
    case '42P10':
      return new JustonceError('STORE_DENIED', { message: `Postgres says: ${messageOf(error)}.`, cause: error })
    case '22P02':
      return goneIn(messageOf(error), error) ?? swallowedIn(messageOf(error), error) ?? error
    case '53100':
      return new JustonceError('STORE_FULL', { message: `Postgres says: ${messageOf(error)}.`, cause: error })
    default:
      if (isVanished(error))
        return new JustonceError('STATEMENT_LOST', { message: `Postgres says: ${messageOf(error)}.`, cause: error })
      if (!isClosedPool(error)) return error
      return new JustonceError('STORE_CLOSED', { message: 'The pool of the Postgres store has ended.', cause: error })
  }
}

export function messageOf(error: unknown): string {
  return String(property(error, 'message') ?? '')
}

function property(error: unknown, name: string): unknown {
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[name] : undefined
}
