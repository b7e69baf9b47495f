import { inspect } from 'node:util'
import { anyText } from '../../encoding/any-text.ts'
import { type ErrorCode, isJustonceError, isPermanentError, isRetryLater, JustonceError } from '../../errors/index.ts'
import type { RetryPolicy } from '../handler.ts'
import { defaultBackoff } from './backoff.ts'

/** What happens to a message whose attempt has failed. */
export type Verdict = {
  readonly reason: ErrorCode
  readonly attempts: number
  readonly delayMs: number
  /** What is wrong with the policy itself, for the error history. */
  readonly complaint?: JustonceError | undefined
} & ({ readonly state: 'waiting' } | { readonly state: 'dead' })

/** Codes for which retrying cannot help: the message itself is wrong, came too late, or kills the process. */
const permanentCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BODY_INVALID',
  'MESSAGE_NOT_KEPT',
  'KEY_REUSED',
  'MESSAGE_EXPIRED',
  'PROCESS_DIED',
  'TOO_OLD_TO_KNOW',
  'PARTLY_APPLIED',
  'BROKER_GAVE_UP',
  'SHARD_UNKNOWN',
])

export function judge(error: unknown, retry: RetryPolicy, failedBefore: number, random: number): Verdict {
  const attempts = failedBefore + 1
  const reason = isJustonceError(error) ? error.code : 'HANDLER_FAILED'
  // It has not been tried: the time in its id has not come yet.
  if (isJustonceError(error, 'ID_FROM_THE_FUTURE'))
    return { state: 'waiting', reason, attempts: failedBefore, delayMs: shortened(Number(error.details?.delayMs)) }
  if (isPermanentError(error) || permanentCodes.has(reason) || attempts >= retry.attempts) {
    return { state: 'dead', reason, attempts, delayMs: 0 }
  }
  try {
    if (retry.classify?.(error) === 'permanent') return { state: 'dead', reason, attempts, delayMs: 0 }
    const delayMs = isRetryLater(error) ? error.delayMs : retry.backoff(attempts, error, random)
    if (delayMs === 'dead') return { state: 'dead', reason, attempts, delayMs: 0 }
    if (typeof delayMs === 'number' && delayMs >= 0) {
      return { state: 'waiting', reason, attempts, delayMs: shortened(delayMs) }
    }
    throw new JustonceError('BACKOFF_INVALID', {
      message: `After attempt ${attempts} the backoff returned ${inspect(delayMs)}, which is not a delay.`,
    })
  } catch (cause) {
    // A policy is the user's code: whatever it throws or returns must not keep the message from being parked.
    const complaint = isJustonceError(cause, 'BACKOFF_INVALID')
      ? cause
      : new JustonceError('BACKOFF_INVALID', { message: `The retry policy threw: ${anyText(cause)}.`, cause })
    return { state: 'waiting', reason, attempts, delayMs: ordinaryDelay(attempts, error, random), complaint }
  }
}

const longestDelayMs = 365 * 24 * 3_600_000

function shortened(delayMs: number): number {
  return Math.min(delayMs, longestDelayMs)
}

function ordinaryDelay(attempts: number, error: unknown, random: number): number {
  return defaultBackoff(attempts, error, random) as number
}
