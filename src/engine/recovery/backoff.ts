import { checkNumber, checkOptions } from '../../errors/index.ts'
import type { Backoff } from '../handler.ts'

/** What `exponential()` takes. */
export interface ExponentialOptions {
  /** The wait after the first failure. Default: 1 s. */
  readonly baseMs?: number
  /** How many times as long each wait is as the one before. Default: 2. */
  readonly factor?: number
  /** The longest wait. Default: 5 minutes. */
  readonly maxMs?: number
  /**
   * The share of a wait that is random, from 0 to 1, so that messages that failed together are not retried together. Default:
   * 0.5.
   */
  readonly jitter?: number
}

/** Growing waits: by default 1 s, 2 s, 4 s … up to five minutes, half of each random. */
export function exponential(options: ExponentialOptions = {}): Backoff {
  checkOptions(options, ['baseMs', 'factor', 'maxMs', 'jitter'], 'exponential()')
  const { baseMs = 1_000, factor = 2, maxMs = 300_000, jitter = 0.5 } = options
  checkNumber(baseMs, 'baseMs of exponential()', 0)
  checkNumber(factor, 'factor of exponential()', 1)
  checkNumber(maxMs, 'maxMs of exponential()', 0)
  checkNumber(jitter, 'jitter of exponential()', 0, 1)
  return (attempt, _, random) => {
    const full = Math.min(baseMs * factor ** (attempt - 1), maxMs)
    return full * (1 - jitter) + full * jitter * random
  }
}

/** The same wait before every further attempt. */
export function fixed(delayMs: number): Backoff {
  checkNumber(delayMs, 'The delay of fixed()', 0)
  return () => delayMs
}

/** No further attempt: a failure makes a dead letter immediately. */
export const none: Backoff = () => 'dead'

export const defaultBackoff: Backoff = exponential()
