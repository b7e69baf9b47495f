import { inside } from './inside.ts'
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

/**
 * The same world in which handlers intend calls. Those of the time when the clock is ahead are made when somebody has looked for them, or when that time has come, and what
 * is known of most calls is gone by then. Nobody dies in it: who finds a lease that has ended early cannot know whether its holder lives.
 */
export function jumpingIntents(scenario: Scenario): Scenario {
  return { ...jumping(scenario), intents: true }
}

/**
 * A world with the database as the queue, whose clock is ahead by days while processes that hold messages of it die. Nobody is frozen in
 * it, nobody's locks outlive him and no handler fails: what is parked meanwhile waits for as long as the clock was ahead.
 */
export function jumpingInside(scenario: Scenario): Scenario {
  const { mendedAt, deployAt, sickUntil, delays, meddling, ...calm } = inside(scenario)
  const random = new Random(scenario.seed * 48_271 + 13)
  const at = random.between(100, 2_500)
  const lastsMs = random.between(500, 8_000)
  const kills = Array.from({ length: random.pick([1, 2, 3]) }, () => ({
    at: at + random.below(lastsMs),
    kind: 'kill' as const,
    ms: 0,
  }))
  return {
    ...calm,
    skewMs: calm.skewMs.map(() => 0),
    messages: calm.messages.map(({ large, ...message }) => ({
      ...message,
      behaviour: 'good' as const,
      // Just before somebody dies, so that he holds it.
      sentAt: random.chance(0.5) ? [Math.max(0, random.pick(kills).at - random.below(60))] : message.sentAt,
    })),
    faults: calm.faults.filter(({ fault }) => fault.startsWith('die')),
    disasters: kills,
    clock: { at, aheadMs: random.pick([1 / 24, 2, 40, 400]) * dayMs, lastsMs },
  }
}
