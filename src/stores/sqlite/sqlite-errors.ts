import type { StoreTrouble } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { ownTrouble } from '../sql/trouble.ts'

/** SQLite's primary result codes, as numbers (node:sqlite) and names (better-sqlite3). */
const codes: Readonly<Record<string, number>> = {
  BUSY: 5,
  LOCKED: 6,
  READONLY: 8,
  IOERR: 10,
  CORRUPT: 11,
  FULL: 13,
  CANTOPEN: 14,
  PROTOCOL: 15,
  NOTADB: 26,
}
/** For a virtual table, such as a full-text index that disagrees with its content. It concerns one table, not the file. */
const corruptVirtualTable = { errcode: 267, code: 'SQLITE_CORRUPT_VTAB' }
const conflicts = new Set(['BUSY', 'LOCKED', 'PROTOCOL'])
const nameOf = new Map(Object.entries(codes).map(([name, code]) => [code, name]))

/** The name of SQLite's primary result code, if it matters to a store. */
function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  if (errcode === corruptVirtualTable.errcode || code === corruptVirtualTable.code) return undefined
  if (typeof errcode === 'number') return nameOf.get(errcode & 0xff)
  const named = typeof code === 'string' ? /^SQLITE_([A-Z]+)/.exec(code)?.[1] : undefined
  return named !== undefined && named in codes ? named : undefined
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error)
  return code !== undefined && conflicts.has(code)
}

/** better-sqlite3 checks the folder itself before SQLite does. */
function isOutOfReach(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Cannot open database because')
}

function isClosed(error: unknown): boolean {
  return error instanceof Error && /^(?:The )?database (?:connection )?is not open$/.test(error.message)
}

export function classify(error: unknown): StoreTrouble {
  // Until the files are detached, or the right file is in place, no message is to blame.
  if (isJustonceError(error, 'FILES_ATTACHED') || isJustonceError(error, 'FILE_REPLACED')) return 'unavailable'
  if (isJustonceError(error)) return ownTrouble(error)
  if (isBusy(error)) return 'conflict'
  // A file that is read-only, damaged or gone fails every message alike: parking them all would help nobody.
  return sqliteCode(error) !== undefined || isClosed(error) || isOutOfReach(error) ? 'unavailable' : 'none'
}

/** Gives errors of the store's own statements a code of ours if there is one; other errors stay as they are. */
export function explained(error: unknown): unknown {
  const code = sqliteCode(error)
  const reason = error instanceof Error ? error.message : String(error)
  if (code === 'FULL')
    return new JustonceError('STORE_FULL', { message: `SQLite cannot write: ${reason}.`, cause: error })
  if (isClosed(error)) return closedError(error)
  if (/^no such table: (?:main\.)?justonce_/.test(reason))
    return new JustonceError('SCHEMA_MISSING', { message: `SQLite says: ${reason}.`, cause: error })
  return error
}

export function busyError(waitedMs: number, cause: unknown): JustonceError {
  return new JustonceError('STORE_BUSY', {
    message: `The SQLite file was locked by another connection for ${Math.round(waitedMs)} ms.`,
    cause,
  })
}

export function closedError(cause?: unknown): JustonceError {
  return new JustonceError('STORE_CLOSED', { message: 'The SQLite database is closed.', cause })
}
