import { crowded } from './crowded.ts'
import { intending } from './intending.ts'
import { violations } from './invariants.ts'
import { jumping, jumpingInside } from './jumping.ts'
import { loose } from './loose.ts'
import { meddled } from './meddled.ts'
import type { Exhibit } from './museum/exhibit.ts'
import { realApp } from './real-app.ts'
import { refusing } from './refusing.ts'
import { restoredLog } from './restored.ts'
import { retained } from './retained.ts'
import { type Scenario, type ScenarioMessage, scenarioOf, timelessScenario } from './scenario.ts'
import { type Program, World } from './world.ts'

export interface Result {
  readonly scenario: Scenario
  readonly violations: readonly string[]
  readonly world: World
}

export async function simulate(scenario: Scenario, program: Program = realApp, tracing = false): Promise<Result> {
  const world = new World(scenario, program, tracing)
  const rested = await world.run()
  return { scenario, violations: violations(world, rested), world }
}

/** The scenario of a seed as an exhibit can take it, and as it shows best. */
export function scenarioFor(exhibit: Omit<Exhibit, 'name' | 'flaw' | 'caughtAs' | 'program'>, seed: number): Scenario {
  const {
    plain,
    broughtOutBy,
    isOneLine = false,
    large,
    deliveryLimit,
    frozenAt,
    isDeployed,
    isRefused = false,
    isMeddled = false,
    isRetained = false,
    isRestored = false,
    isJumping,
    isCrowded = false,
    isInterleaved = false,
    isDelaying = false,
    isTicking = false,
    isIntending = false,
    isLoose = false,
    shape = 'queue',
  } = exhibit
  const given: Scenario = isLoose
    ? loose(timelessScenario(seed))
    : isIntending
      ? intending(isRetained ? retained(timelessScenario(seed)) : timelessScenario(seed))
      : scenarioOf(seed, isRetained, isRestored, shape === 'database')
  const plan = isInterleaved ? { ...given, interleave: true, batchMax: Math.max(10, given.batchMax) } : given
  const refused = isRefused ? refusing(plan) : plan
  const base = isMeddled ? meddled(refused) : refused
  const { deployAt: _, mendedAt, ...scenario }: Scenario = isCrowded ? { ...crowded(base), processes: 1 } : base
  if (isRestored && shape.startsWith('log')) return restoredLog(scenarioOf(seed, false, false), shape)
  if (isJumping) return shape === 'database' ? jumpingInside(timelessScenario(seed)) : jumping(scenario)
  const messages = scenario.messages.map((message, index): ScenarioMessage => {
    if (isOneLine) return { ...message, type: 'ordered', key: 'k0', behaviour: 'good' }
    if (plain) return { ...message, type: 'single', behaviour: 'good' }
    if (large && index % 3 === 0) return { ...message, large, behaviour: 'throws-always' }
    return broughtOutBy !== undefined && index % 3 === 0 ? { ...message, behaviour: broughtOutBy } : message
  })
  const once = messages.map((message) => ({ ...message, sentAt: message.sentAt.slice(0, 1) }))
  const order = shape === 'queue' && !isOneLine ? scenario.order : 'keep'
  return {
    ...scenario,
    shape,
    order,
    ...(isDelaying && { delays: true }),
    ...(isTicking && { ticks: true }),
    processes: isOneLine || isTicking ? Math.max(2, scenario.processes) : scenario.processes,
    messages: shape === 'log by position' ? once : messages,
    ...(frozenAt !== undefined && {
      faults: [...scenario.faults, { step: frozenAt, nth: seed % 16, fault: 'pause-before' as const }],
    }),
    ...(isDeployed ? { deployAt: 1_000 } : mendedAt !== undefined && { mendedAt }),
    ...(deliveryLimit === undefined ? {} : { deliveryLimit }),
  }
}

/** The first seed whose run shows the given kind of damage. */
export async function catchExhibit(
  exhibit: Exhibit,
  seeds: number,
): Promise<{ seed: number; violations: readonly string[] } | undefined> {
  for (let seed = 0; seed < seeds; seed++) {
    const { violations } = await simulate(scenarioFor(exhibit, seed), exhibit.program)
    const own = violations.filter((violation) => violation.startsWith(exhibit.caughtAs))
    if (own.length > 0) return { seed, violations: own }
  }
  return undefined
}
