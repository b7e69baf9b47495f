import { type PlannedFault, planFaults } from '../faults.ts'
import type { ClockPlan } from '../jumping.ts'
import { Random } from '../random.ts'
import type { RestorePlan } from '../restored.ts'

/** Two apps on one database, each with destinations of its own. */
export const destinations = { orders: 'shop', audit: 'shop', letters: 'mail' } as const
export type Destination = keyof typeof destinations
export type AppName = (typeof destinations)[Destination]

/** Ticks of each app, under the same name of a schedule. */
export const tickMs = { shop: 4_000, mail: 7_000 } as const

/** One message that is published in a transaction, and may be cancelled. */
export interface Publication {
  readonly id: string
  readonly to: Destination
  readonly key: string | undefined
  readonly at: number
  /** Not given: it leaves at once. `at` is a time of the database's clock. */
  readonly due?: { readonly delayMs: number } | { readonly at: number }
  /** When somebody tries to cancel it. */
  readonly cancelAt: readonly number[]
  /** How often its broker refuses it, and whether that is about the message. */
  readonly refusals: { readonly times: number; readonly arePassing: boolean }
}

/** Everything that makes up a run. */
export interface OutgoingPlan {
  readonly seed: number
  readonly skewMs: readonly number[]
  /** Which app each process runs. */
  readonly apps: readonly AppName[]
  readonly publications: readonly Publication[]
  readonly faults: readonly PlannedFault[]
  readonly disasters: readonly {
    readonly at: number
    readonly kind: 'database-crash' | 'kill' | 'freeze' | Destination
    readonly ms: number
  }[]
  /** All processes are down for a while. */
  readonly downtime?: { readonly at: number; readonly ms: number }
  readonly clock?: ClockPlan
  readonly restore?: RestorePlan
}

const minuteMs = 60_000
const neverRefused = { times: 0, arePassing: false }

export function planOf(seed: number, isRestored = seed % 5 === 2, isJumping = seed % 5 === 3): OutgoingPlan {
  const random = new Random(seed * 2_246_822_519 + 5)
  const apps = random.pick([
    ['shop', 'mail'],
    ['shop', 'shop', 'mail'],
    ['shop', 'mail', 'shop', 'mail'],
  ] as const)
  const count = random.between(2, random.pick([6, 20]))
  const plan: OutgoingPlan = {
    seed,
    apps,
    skewMs: apps.map(() => random.between(-minuteMs, minuteMs)),
    publications: Array.from({ length: count }, (_, index) => publicationOf(random, index)),
    faults: planFaults(random, 40 + count * 10, random.pick([0, 1, 3, 8])),
    disasters: Array.from({ length: random.pick([0, 1, 3]) }, () => ({
      at: random.between(1, 6_000),
      kind: random.pick(['database-crash', 'kill', 'freeze', 'orders', 'audit', 'letters'] as const),
      ms: random.between(100, 20_000),
    })),
    ...(seed % 5 === 1 && { downtime: { at: random.between(500, 6_000), ms: random.pick([10_000, 5 * minuteMs]) } }),
  }
  if (isRestored) return restored(plan, random)
  return isJumping ? jumping(plan, random) : plan
}

function restored(plan: OutgoingPlan, random: Random): OutgoingPlan {
  const backUpAt = random.between(1, 6_000)
  // Often across several ticks.
  const at = backUpAt + random.between(1, random.pick([1_000, 15_000]))
  return { ...plan, restore: { backUpAt, at, ms: random.between(100, 6_000) } }
}

/** A delay that was stored while a clock was days ahead waits for days. So far ahead nothing is delayed, and only deaths go wrong. */
function jumping(plan: OutgoingPlan, random: Random): OutgoingPlan {
  const aheadMs = random.pick([30_000, 20 * minuteMs, 3 * 1_440 * minuteMs, 366 * 1_440 * minuteMs])
  const clock = { at: random.between(500, 8_000), aheadMs, lastsMs: random.between(1_000, 30_000) }
  const isFar = aheadMs > 60 * minuteMs
  if (!isFar) return { ...plan, clock }
  const { downtime: _, ...calm } = plan
  const publications = plan.publications.map(({ due: _, ...each }) => ({
    ...each,
    cancelAt: [],
    refusals: neverRefused,
  }))
  const kills = Array.from({ length: random.pick([0, 1, 3]) }, () => ({
    at: clock.at + random.below(clock.lastsMs),
    kind: 'kill' as const,
    ms: 0,
  }))
  const faults = calm.faults.filter(({ fault }) => fault.startsWith('die'))
  return { ...calm, clock, publications, faults, disasters: kills }
}

function publicationOf(random: Random, index: number): Publication {
  const at = random.between(0, 8_000)
  const delayMs = random.pick([0, 300, 1_500, 6_000, 20_000])
  const isDelayed = random.chance(0.5)
  const dueAt = at + delayMs
  return {
    id: `m${index}`,
    to: random.pick(['orders', 'orders', 'audit', 'letters']),
    key: random.chance(0.7) ? `k${random.below(2)}` : undefined,
    at,
    ...(isDelayed && { due: random.chance(0.5) ? { delayMs } : { at: dueAt } }),
    // Around the time at which it leaves, too.
    cancelAt: isDelayed
      ? Array.from({ length: random.pick([0, 1, 1, 2]) }, () =>
          random.chance(0.7) ? Math.max(at, dueAt + random.between(-20, 60)) : random.between(at, dueAt + 1),
        )
      : [],
    refusals: { times: random.pick([0, 0, 0, 1, 3]), arePassing: random.chance(0.3) },
  }
}
