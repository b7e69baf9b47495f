import type { StoreTrouble } from '../../contracts/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'

/** Replies of a running server that cannot do the work: it is loading, has failed over, cannot write, or migrates a slot. */
const unableCodes = [
  ...['LOADING', 'MASTERDOWN', 'READONLY', 'CLUSTERDOWN', 'TRYAGAIN', 'MISCONF', 'NOREPLICAS', 'BUSY'],
  ...['MOVED', 'ASK'],
].join('|')
/** Someone has subscribed on the connection, and a server that speaks RESP 2 accepts nothing else there. */
const subscribed = 'ERR .*only \\(P.* allowed in this context'
/** Only a script that has not written anything can be killed. */
const killed = 'ERR .*Script killed by user'
const unable = new RegExp(
  `^(${unableCodes}) |^ERR .*: (${unableCodes}) |^ERR .*attempted to access a non local key|^${subscribed}|^${killed}|^ERR max number of clients`,
)
/** Refusals of a command, also inside a script, in the words of older and newer servers; or of everything without a login. */
const denied = /^NOAUTH |^WRONGPASS |^NOPERM |^ERR ACL failure in script: |^ERR The user executing the script can't /
const full = /^OOM |^ERR .*: ?-?OOM /

/** Servers begin their errors with a code in capitals. Any other error of a client is about the connection. */
const reply = /^[A-Z][A-Z0-9_]+ /

export function isReply(error: unknown, code: string): boolean {
  return error instanceof Error && error.message.startsWith(code)
}

/** Works with every client library: a refusal by the server stays as it is, any other error means that it cannot be reached. */
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

/** Only the user who has opened the MULTI decides whether the command is ever executed. */
export function queuedError(command: string): JustonceError {
  return new JustonceError('STORE_UNREACHABLE', {
    message: `Redis has queued ${command} behind a MULTI that another user of the connection has open. Give the store its own client.`,
  })
}

export function classify(error: unknown): StoreTrouble {
  if (isJustonceError(error, 'CLAIM_HELD') || isJustonceError(error, 'CLAIM_LOST')) return 'conflict'
  if (isJustonceError(error, 'STORE_BUSY') || isJustonceError(error, 'STORE_DENIED')) return 'conflict'
  const unavailable = ['STORE_UNREACHABLE', 'STORE_FULL', 'STORE_CLOSED', 'COMMIT_UNKNOWN'] as const
  return unavailable.some((code) => isJustonceError(error, code)) ? 'unavailable' : 'none'
}
