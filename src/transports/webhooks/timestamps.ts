import { checkNumber } from '../../errors/index.ts'

export const fiveMinutesMs = 300_000

/** Seconds since 1970 as the vendors write them. `undefined` for anything else. */
export function secondsIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}

/**
 * Whether a signature was made close enough to now. It must not be in the future either: such a timestamp would keep its
 * request replayable for longer than the window.
 */
export function isFresh(seconds: number, now: Date, toleranceMs: number): boolean {
  return Math.abs(now.getTime() - seconds * 1_000) <= toleranceMs
}

export function checkTolerance(toleranceMs: number | undefined): number {
  if (toleranceMs !== undefined) checkNumber(toleranceMs, 'toleranceMs', 1)
  return toleranceMs ?? fiveMinutesMs
}
