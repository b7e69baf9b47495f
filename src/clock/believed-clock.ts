/** What a database remembers of its own clock. In milliseconds since 1970. */
export interface ClockMemory {
  /** What it said when it was last believed. */
  readonly seen: number | undefined
  /** What it said when it was first doubted, for as long as it is. */
  readonly doubted: number | undefined
}

export interface ClockVerdict {
  readonly isBelieved: boolean
  readonly memory: ClockMemory
}

const anHour = 3_600_000
const aDay = 24 * anHour

/**
 * How far a clock may move without anybody looking, and how long one that has moved further has to go on from there. Half
 * of the time that records are kept, so that a jump which is not noticed cuts off nothing of today.
 */
export function clockPatienceMs(keepMs: number): number {
  return Math.min(aDay, Math.max(anHour, keepMs / 2))
}

/**
 * Whether a clock is to be believed. What is removed by a wrong clock is removed for good, and what is kept for a day too
 * long costs nothing; so after a jump it waits until the clock has gone on from there for a while. A clock that was ahead
 * for a moment has come back by then, and one that was stopped over the holidays has not.
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
