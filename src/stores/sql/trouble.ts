import type { StoreTrouble } from '../../contracts/index.ts'
import type { JustonceError } from '../../errors/index.ts'

/** The error codes that Node reports when there is no connection. */
export const networkCodes = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'],
  ...['EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN', 'ENOENT', 'ERR_STREAM_DESTROYED'],
]

const conflicts = new Set(['STORE_BUSY', 'FILE_LOCK_BROKEN', 'ISOLATION_TOO_STRICT', 'STATEMENT_LOST', 'STORE_DENIED'])

/** Classifies an error that a store raised itself. */
export function ownTrouble({ code }: JustonceError): StoreTrouble {
  if (conflicts.has(code)) return 'conflict'
  // Until a new claim has determined the outcome of the commit, nothing else can be done either.
  return code === 'STORE_CLOSED' || code === 'STORE_FULL' || code === 'COMMIT_UNKNOWN' ? 'unavailable' : 'none'
}
