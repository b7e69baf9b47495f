import { Random } from './random.ts'
import type { Scenario, ScenarioMessage } from './scenario.ts'

/** A message that does not fail must have taken effect so long after it was sent, whatever else is failing or slow. */
export const starvesAfterMs = 30_000

/**
 * The same world, crowded: one handler fails on everything for a minute, some messages are slow, and good ones stand
 * among and behind them. Nothing breaks but connections to the broker, so that there is no excuse for being late.
 */
export function crowded(scenario: Scenario): Scenario {
  const random = new Random(scenario.seed * 40_503 + 7)
  const { mendedAt: _, retention: __, deliveryLimit: ___, deployAt: ____, clock: _____, ...rest } = scenario
  const sickFirst = random.chance(0.3)
  const message = (index: number): ScenarioMessage => {
    const isSick = sickFirst ? index < 20 : random.chance(0.5)
    return {
      id: `m${index}`,
      type: isSick ? 'sick' : random.pick(['single', 'double', 'ordered']),
      key: random.chance(0.5) ? `k${random.below(6)}` : undefined,
      behaviour: !isSick && random.chance(0.1) ? 'slow' : 'good',
      sentAt: [index * 5 + random.below(5)],
    }
  }
  return {
    ...rest,
    sickUntil: 60_000,
    messages: Array.from({ length: random.between(20, 50) }, (_, index) => message(index)),
    faults: [],
    disasters: Array.from({ length: random.pick([0, 1, 3]) }, () => ({
      at: random.between(100, 20_000),
      kind: 'broker-restart' as const,
      ms: random.between(50, 500),
    })),
  }
}
