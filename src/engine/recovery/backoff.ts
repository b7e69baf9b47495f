import { checkNumber, checkOptions } from '../../errors/index.ts'
import type { Backoff } from '../handler.ts'

export interface ExponentialOptions {
  /** The wait after the first failure. 1 s if not given. */
  readonly baseMs?: number
  /** Each wait is so many times the one before. 2 if not given. */
  readonly factor?: number
  /** No wait is longer. 5 minutes if not given. */
  readonly maxMs?: number
  /** The part of a wait that is left to chance, from 0 to 1, so that what failed together does not come back together. 0.5 if not given. */
  readonly jitter?: number
}

/** Waits that grow: 1 s, 2 s, 4 s … up to five minutes, half of each left to chance, if nothing else is said. */
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

/** No further attempt: what fails is a dead letter at once. */
export const none: Backoff = () => 'dead'

export const defaultBackoff: Backoff = exponential()
