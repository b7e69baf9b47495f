/** Long beside what most hide a message for who renew it while at work, and short for one whose taker is dead. */
const leastMs = 600_000

/**
 * A message of a queue that is hidden for longer than this was hidden while the database's clock was ahead, or by a process with another
 * setting. It is then hidden for this long from now, and not taken away: whoever has it and is alive renews it in time.
 */
export function longestHiddenMs(visibilityMs: number): number {
  return Math.max(leastMs, Math.ceil(visibilityMs) * 2)
}

/**
 * How often whoever holds a message hides it anew: after a third of the time for which it stays hidden, so that one failed renewal loses
 * nothing. That time may be less than the holder has asked for, because others who ask for less shorten it.
 */
export function renewEveryMs(visibilityMs: number): number {
  return Math.min(visibilityMs, leastMs) / 3
}
