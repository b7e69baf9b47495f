import type { StoreTrouble } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'

/** What a server that is up answers while it cannot do the work: it loads, has failed over, cannot write, or moves a slot. */
const unableCodes = [
  ...['LOADING', 'MASTERDOWN', 'READONLY', 'CLUSTERDOWN', 'TRYAGAIN', 'MISCONF', 'NOREPLICAS', 'BUSY'],
  ...['MOVED', 'ASK'],
].join('|')
/** Somebody has subscribed on the connection, and a server that speaks RESP 2 takes nothing else there. */
const subscribed = 'ERR .*only \\(P.* allowed in this context'
const unable = new RegExp(
  `^(${unableCodes}) |^ERR .*: (${unableCodes}) |^ERR .*attempted to access a non local key|^${subscribed}`,
)
/** Of a command, or of one in a script, by what older and newer servers say; or of everything, to who is not logged in. */
const denied = /^NOAUTH |^WRONGPASS |^NOPERM |^ERR ACL failure in script: |^ERR The user executing the script can't /
const full = /^OOM |^ERR .*: ?-?OOM /

/** Servers begin their errors with a code in capitals; whatever else a client rejects with is about the connection. */
const reply = /^[A-Z][A-Z0-9_]+ /

export function isReply(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code)
}

/** The same for every client library: a refusal of the server stays as it is, everything else means that it cannot be reached. */
export function asStoreError(error: unknown): unknown {
  if (isJustonceError(error)) return error
  const message = error instanceof Error ? error.message : String(error)
  if (full.test(message)) {
    return new JustonceError('STORE_FULL', { message: `Redis has no memory left: ${message}`, cause: error })
  }
  if (denied.test(message))
    return new JustonceError('STORE_DENIED', { message: `Redis says: ${message}`, cause: error })
  if (reply.test(message) && !unable.test(message)) return error
  return new JustonceError('STORE_UNREACHABLE', { message: `Redis cannot be used now: ${message}.`, cause: error })
}

/** Whether it will ever be carried out is up to whoever has opened the MULTI. */
export function queuedError(command: string): JustonceError {
  return new JustonceError('STORE_UNREACHABLE', {
    message: `Redis has queued ${command} behind a MULTI that another user of the connection has open. Give the store a client of its own.`,
  })
}

export function classify(error: unknown): StoreTrouble {
  if (isJustonceError(error, 'CLAIM_HELD') || isJustonceError(error, 'CLAIM_LOST')) return 'conflict'
  if (isJustonceError(error, 'STORE_BUSY') || isJustonceError(error, 'STORE_DENIED')) return 'conflict'
  const unavailable = ['STORE_UNREACHABLE', 'STORE_FULL', 'STORE_CLOSED', 'COMMIT_UNKNOWN'] as const
  return unavailable.some((code) => isJustonceError(error, code)) ? 'unavailable' : 'none'
}
