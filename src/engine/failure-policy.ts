import { inspect } from 'node:util'
import { cleanText } from '../encoding/clean-text.ts'
import { type ErrorCode, isJustonceError, isPermanentError } from '../errors/index.ts'
import type { RetryPolicy } from './handler.ts'

/** What happens to a message whose attempt has failed. */
export type Verdict =
  | { readonly state: 'waiting'; readonly reason: ErrorCode; readonly attempts: number; readonly delayMs: number }
  | { readonly state: 'dead'; readonly reason: ErrorCode; readonly attempts: number; readonly delayMs: 0 }

/** Codes that no further attempt can mend: the message itself is wrong. */
const permanentCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['BODY_INVALID', 'KEY_REUSED'])

export function judge(error: unknown, retry: RetryPolicy, failedBefore: number, random: number): Verdict {
  const attempts = failedBefore + 1
  const reason = isJustonceError(error) ? error.code : 'HANDLER_FAILED'
  if (isPermanentError(error) || permanentCodes.has(reason) || attempts >= retry.attempts) {
    return { state: 'dead', reason, attempts, delayMs: 0 }
  }
  return { state: 'waiting', reason, attempts, delayMs: delayOf(retry, attempts, random) }
}

const longestDelayMs = 365 * 24 * 3_600_000

/** A backoff is the user's code: what it throws or answers must not keep the message from being parked. */
function delayOf(retry: RetryPolicy, failedAttempts: number, random: number): number {
  let delayMs: number
  try {
    delayMs = retry.backoff(failedAttempts, random)
  } catch {
    delayMs = Number.NaN
  }
  if (typeof delayMs !== 'number' || Number.isNaN(delayMs)) delayMs = defaultBackoff(failedAttempts, random)
  return Math.min(Math.max(0, delayMs), longestDelayMs)
}

export interface ErrorNote {
  readonly at: string
  readonly message: string
}

const notesKept = 20
const noteLength = 4_000

/** The error history as JSON text, with one more error; the oldest fall out. */
export function addErrorNote(history: string, error: unknown, at: Date): string {
  const notes = [...readErrorNotes(history), { at: at.toISOString(), message: cleanText(describe(error), noteLength) }]
  return JSON.stringify(notes.slice(-notesKept))
}

export function readErrorNotes(history: string): readonly ErrorNote[] {
  return history === '' ? [] : (JSON.parse(history) as ErrorNote[])
}

const causesShown = 5

/** Never throws: anything at all can be thrown, and it must not keep the message from being parked. */
function describe(error: unknown, depth = 0): string {
  try {
    if (!(error instanceof Error)) return typeof error === 'object' ? inspect(error) : String(error)
    const text = String(error.stack ?? `${error.name}: ${error.message}`)
    if (error.cause === undefined || depth === causesShown) return text
    return `${text}\ncaused by: ${describe(error.cause, depth + 1)}`
  } catch {
    return 'something that cannot be described'
  }
}

/** Exponential with full jitter on the upper half: 1 s, 2 s, 4 s … up to five minutes. */
export function defaultBackoff(failedAttempts: number, random: number): number {
  const full = Math.min(1_000 * 2 ** (failedAttempts - 1), 300_000)
  return full / 2 + (full / 2) * random
}
