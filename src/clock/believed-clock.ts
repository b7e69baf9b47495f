/** What a database remembers about its own clock, in milliseconds since 1970. */
export interface ClockMemory {
  /** The time when the clock was last believed. */
  readonly seen: number | undefined
  /** The time when the clock was first doubted, while it is doubted. */
  readonly doubted: number | undefined
}

export interface ClockVerdict {
  readonly isBelieved: boolean
  readonly memory: ClockMemory
}

const anHour = 3_600_000
const aDay = 24 * anHour

/**
 * How far a clock may move unobserved, and how long a clock that has moved further must then run steadily. At most half
 * of the time that records are kept (but at least an hour), so that an unnoticed jump removes nothing recent.
 */
export function clockPatienceMs(keepMs: number): number {
  return Math.min(aDay, Math.max(anHour, keepMs / 2))
}

/**
 * Decides whether to believe a clock. Records that a wrong clock removes are gone for good, while keeping them a day too
 * long costs nothing. After a jump it therefore waits until the clock has run on from there for a while. A clock that was
 * ahead for a moment is back by then; after a long shutdown, the clock stays where it is.
 */
export function believedClock(
  now: number,
  { seen, doubted }: ClockMemory,
  { patienceMs, steadyNow }: { readonly patienceMs: number; readonly steadyNow: number | undefined },
): ClockVerdict {
  const expected = Math.max(seen ?? now, steadyNow ?? Number.NEGATIVE_INFINITY)
  const goneOnMs = doubted === undefined ? 0 : now - doubted
  const hasGoneOn = goneOnMs >= patienceMs && goneOnMs <= 2 * patienceMs
  if (now - expected <= patienceMs || hasGoneOn) return { isBelieved: true, memory: { seen: now, doubted: undefined } }
  const isSameDoubt = doubted !== undefined && goneOnMs >= 0 && goneOnMs < patienceMs
  return { isBelieved: false, memory: { seen, doubted: isSameDoubt ? doubted : now } }
}
