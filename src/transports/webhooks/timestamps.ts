import { checkNumber } from '../../errors/index.ts'

export const fiveMinutesMs = 300_000

/** Seconds since 1970 as the vendors write them; anything else is none. */
export function secondsIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

/**
 * Whether a signature was made near enough to now. Also not in the future: a timestamp that is ahead would keep its
 * request replayable for longer than the window.
 */
export function isFresh(seconds: number, now: Date, toleranceMs: number): boolean {
  return Math.abs(now.getTime() - seconds * 1_000) <= toleranceMs
}

export function checkTolerance(toleranceMs: number | undefined): number {
  if (toleranceMs !== undefined) checkNumber(toleranceMs, 'toleranceMs', 1)
  return toleranceMs ?? fiveMinutesMs
}
