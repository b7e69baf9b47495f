import { Random } from './random.ts'
import { dayMs, endOf, retained } from './retained.ts'
import type { Scenario } from './scenario.ts'
import { bornIn } from './timed-ids.ts'

/** The database's clock is ahead for a while, and somebody starts a process just then. */
export interface ClockPlan {
  readonly at: number
  readonly aheadMs: number
  readonly lastsMs: number
}

/**
 * A world in which records are removed and nothing goes wrong but the clock. Nothing waits in it for a time that was
 * stored while the clock was ahead: that comes as much too late, and is said to.
 */
export function jumping(scenario: Scenario): Scenario {
  const random = new Random(scenario.seed * 48_271 + 11)
  // Intended calls have worlds of their own in which the clock is ahead: here, what is known of them is removed after a day.
  const { messages, retention, mendedAt, deployAt, sickUntil, intents, ...calm } = retained({
    ...scenario,
    shape: 'queue',
  })
  const good = messages.filter(({ id, sentAt }) => (bornIn(id) ?? 0) <= Math.min(...sentAt))
  return {
    ...calm,
    skewMs: [],
    // After a night or a leap, more ticks are missed than a schedule makes up for.
    ticks: false,
    messages: good.map((message) => ({ ...message, behaviour: 'good' as const })),
    faults: [],
    disasters: [],
    ...(retention && { retention: { ...retention, days: [...retention.days, 1] } }),
    clock: {
      // In the morning: a clock that is wrong all night has gone on from there for so long that it is believed.
      at: endOf(retention?.leaps.at(-1)) + random.between(500, 5_000),
      aheadMs: random.pick([2, 40, 400]) * dayMs,
      lastsMs: random.between(1_000, 20_000),
    },
  }
}
