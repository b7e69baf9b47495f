import { type PlannedFault, planFaults } from '../faults.ts'
import { Random } from '../random.ts'
import type { RestorePlan } from '../restored.ts'

export const resources = ['stock', 'credit'] as const
export type Resource = (typeof resources)[number]

/** An order that needs so many of each resource. */
export interface Order {
  readonly id: string
  readonly at: number
  readonly count: number
}

export interface ReservationPlan {
  readonly seed: number
  readonly skewMs: readonly number[]
  readonly free: Readonly<Record<Resource, number>>
  readonly timeoutMs: number
  /** How long all calls of one attempt may take together. */
  readonly callTimeoutMs: number
  readonly orders: readonly Order[]
  readonly faults: readonly PlannedFault[]
  readonly disasters: readonly {
    readonly at: number
    readonly kind: 'kill' | 'freeze' | 'orders' | Resource
    readonly ms: number
  }[]
  /** Of the database that knows what was decided. */
  readonly restore?: RestorePlan
}

export function planOf(seed: number, isRestored = seed % 4 === 1, isHaunted = seed % 4 === 2): ReservationPlan {
  const random = new Random(seed * 3_266_489_917 + 7)
  const processes = random.between(1, 3)
  const count = random.between(1, 4)
  const backUpAt = random.between(50, 3_000)
  const plan: ReservationPlan = {
    seed,
    skewMs: Array.from({ length: processes }, () => random.between(-60_000, 60_000)),
    // Sometimes not enough for all.
    free: { stock: random.between(2, 12), credit: random.between(2, 12) },
    timeoutMs: random.pick([0, 2_000, 10_000, 60_000]),
    callTimeoutMs: random.pick([1_000, 5_000, 30_000]),
    orders: Array.from({ length: count }, (_, index) => ({
      id: `o${index}`,
      at: random.between(0, 3_000),
      count: random.between(1, 4),
    })),
    faults: planFaults(random, 40 + count * 40, random.pick([0, 1, 3, 8])),
    disasters: Array.from({ length: random.pick([0, 1, 2, 4]) }, () => ({
      at: random.between(1, 6_000),
      kind: random.pick(['kill', 'freeze', 'orders', ...resources] as const),
      ms: random.between(100, random.pick([3_000, 20_000])),
    })),
    ...(isRestored && {
      restore: {
        backUpAt,
        at: backUpAt + random.between(1, random.pick([300, 5_000])),
        ms: random.between(100, 3_000),
      },
    }),
  }
  return isHaunted ? haunted(plan, random) : plan
}

/** Processes freeze in the middle of a step, others take over while a resource is away, and time is short: so they decide differently. */
function haunted(plan: ReservationPlan, random: Random): ReservationPlan {
  const freezes = Array.from({ length: random.between(2, 5) }, () => ({
    step: random.pick(['begin', 'claim', 'claim', 'commit', 'change-facts', 'change-facts'] as const),
    nth: random.below(random.pick([4, 20])),
    fault: 'pause-before' as const,
  }))
  const outages = Array.from({ length: random.between(2, 5) }, () => ({
    at: random.between(1, 15_000),
    kind: random.pick(resources),
    ms: random.between(300, 6_000),
  }))
  return {
    ...plan,
    skewMs: [0, 0, ...plan.skewMs.slice(2)],
    timeoutMs: random.pick([0, 500, 2_000]),
    callTimeoutMs: 1_000,
    free: { stock: 20, credit: random.pick([2, 20]) },
    faults: freezes,
    disasters: outages,
  }
}
