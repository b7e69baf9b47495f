/** Long beside what anybody hides a message for who renews it while at work, and short for one whose taker is dead. */
const leastMs = 600_000

/**
 * A message of a queue that is hidden for longer than this was hidden while the database's clock was ahead. It is then hidden for this
 * long from now, and not taken away: whoever has it and is alive renews it in time, even where processes have different settings.
 */
export function longestHiddenMs(visibilityMs: number): number {
  return Math.max(leastMs, Math.ceil(visibilityMs) * 2)
}
