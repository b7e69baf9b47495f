import { burdened } from './burdened.ts'
import { crowded } from './crowded.ts'
import { type PlannedFault, planFaults } from './faults.ts'
import { inside, restoredInside } from './inside.ts'
import { intending, intendingRetained } from './intending.ts'
import { type ClockPlan, jumping, jumpingInside, jumpingIntents } from './jumping.ts'
import { type Meddling, meddled } from './meddled.ts'
import { Random } from './random.ts'
import { refusing } from './refusing.ts'
import { type RestorePlan, restored } from './restored.ts'
import { type RetentionPlan, retained, retainedDeployed } from './retained.ts'

export const behaviours = [
  'good',
  'throws-once',
  'throws-always',
  'hangs-once',
  'forgets-await',
  'leaves-sibling',
  'commits',
  'swallows',
  'kills-once',
  'kills-always',
  'throws-then-kills',
] as const

/** How the handler treats a message. `once` is over after the first time. */
export type Behaviour = (typeof behaviours)[number] | 'looks-away' | 'cuts-always' | 'cuts-once' | 'slow'

export interface ScenarioMessage {
  readonly id: string
  /** Of `sick` the handler fails on everything until `sickUntil`. */
  readonly type: 'single' | 'double' | 'bulk' | 'ordered' | 'sick'
  readonly key: string | undefined
  readonly behaviour: Behaviour
  /** More than the store can keep. */
  readonly large?: boolean
  /** When each copy is sent. */
  readonly sentAt: readonly number[]
}

export interface Disaster {
  readonly at: number
  readonly kind: 'database-crash' | 'broker-restart' | 'kill' | 'freeze'
  readonly ms: number
}

/** Everything that makes up a run, as data: the same scenario runs the same way, and a failing one can be made smaller. */
export interface Scenario {
  readonly seed: number
  readonly processes: number
  readonly concurrency: number
  readonly batchMax: number
  /** Small ones make batches run out of time, so that they give back what they have not begun. */
  readonly budgetMs: number
  readonly order: 'keep' | 'shuffle'
  /** A queue that is emptied, a queue in the database itself, or a log of partitions that is read; of a log, how copies are recognised. */
  readonly shape: 'queue' | 'database' | 'log by id' | 'log by position' | 'log by both'
  /** Where the database is the queue: how long a message is hidden from others when nobody says that it is still in work. */
  readonly visibilityMs?: number
  readonly tells: 'count' | 'flag' | 'none'
  /** What becomes of the messages behind a dead letter of their key. */
  readonly whenDead: 'block' | 'continue'
  /** The broker drops what it has delivered so often, as brokers with a limit and no dead-letter queue do. */
  readonly deliveryLimit?: number
  /** The broker wants back what was not begun for so long. */
  readonly ageMs?: number
  /** From then on the handlers are repaired, and somebody redrives what has died. */
  readonly mendedAt?: number
  /** From then on processes are replaced by ones that have `added` instead of `first`. */
  readonly deployAt?: number
  readonly sickUntil?: number
  /** Handlers mix their statements in one transaction. */
  readonly interleave: boolean
  /** What handlers publish leaves later, sooner or later after one another. */
  readonly delays?: boolean
  /** Every process has a schedule that ticks every few seconds. */
  readonly ticks?: boolean
  /** The first of two handlers of a message is content with at least once; the second is not. */
  readonly loose?: boolean
  /** It has no transaction either. */
  readonly outside?: boolean
  /** Handlers intend calls to the outside. */
  readonly intents?: boolean
  readonly skewMs: readonly number[]
  /** Not given: records are kept for ever. */
  readonly retention?: RetentionPlan
  /** Not given: the database's clock is right. */
  readonly clock?: ClockPlan
  /** Not given: the database never goes back to what it was. */
  readonly restore?: RestorePlan
  /** Not given: each connection is used once, and nobody else uses it. */
  readonly meddling?: readonly Meddling[]
  readonly messages: readonly ScenarioMessage[]
  readonly faults: readonly PlannedFault[]
  readonly disasters: readonly Disaster[]
}

/**
 * A scenario from a seed: from quiet ones with one fault to wild ones with dozens. In every seventh records are removed, in
 * some of the others a backup is restored, messages bring what a store cannot hold, one handler is sick among many good
 * ones, or the database's clock jumps, with a broker or as the queue. In every eighth the server refuses to open some transactions, and in every ninth handlers
 * publish with delays. In two of thirteen the database itself is the queue, and in half of these it is restored. In two of nineteen
 * connections are kept in a pool that others use, too. In some there is a schedule,
 * and in some handlers intend calls to the outside, also where records are removed or the clock jumps.
 */
export function scenarioOf(
  seed: number,
  isRetained = seed % 7 === 5,
  isRestored = seed % 12 === 4 || seed % 13 === 6,
  isInside = !isRetained && (seed % 13 === 6 || seed % 13 === 10),
): Scenario {
  const plain = timelessScenario(seed)
  const timeless = isInside ? inside(plain) : plain
  const delaying = seed % 9 === 3 ? { ...timeless, delays: true } : timeless
  const refused = seed % 8 === 0 ? refusing(delaying) : delaying
  const scenario = seed % 19 < 2 ? meddled(refused) : refused
  if (isRetained) {
    if (seed % 49 === 19) return intendingRetained(scenario)
    return seed % 49 === 47 ? retainedDeployed(scenario) : retained(scenario)
  }
  if (isRestored) return isInside ? restoredInside(scenario) : restored(scenario)
  if (seed % 11 === 8) return burdened(scenario)
  if (seed % 17 === 1) return crowded(timeless)
  if (seed % 17 === 2) return seed % 34 === 2 ? jumpingIntents(timeless) : jumping(timeless)
  if (seed % 17 === 7) return jumpingInside(plain)
  if (seed % 10 === 9 && !isInside) return intending(scenario)
  return seed % 10 === 7 && !isInside ? { ...scenario, ticks: true } : scenario
}

/** Without anything that only some worlds have. */
export function timelessScenario(seed: number): Scenario {
  const random = new Random(seed * 2_654_435_761)
  const processes = random.between(1, 3)
  const count = random.between(1, random.pick([3, 10, 25]))
  const wildness = random.pick([0, 0.1, 0.4])
  const isMended = random.chance(0.3)
  // Asked of the seed, so that the other choices stay what they were. Who is redriven for ever is never at rest.
  const isDeployed = !isMended && seed % 7 !== 5 && seed % 5 === 3
  const shape = random.pick(['queue', 'queue', 'queue', 'log by id', 'log by position', 'log by both'] as const)
  return {
    seed,
    processes,
    concurrency: random.between(1, 3),
    batchMax: random.pick([1, 3, 10, 50]),
    budgetMs: random.pick([3, 30, 100]),
    shape,
    order: shape === 'queue' ? random.pick(['keep', 'shuffle']) : 'keep',
    tells: random.pick(['count', 'flag', 'none']),
    whenDead: random.pick(['block', 'continue']),
    ...(isMended && { mendedAt: random.pick([20_000, 100_000]) }),
    ...(isDeployed && { deployAt: 500 + (seed % 40) * 50 }),
    interleave: seed % 2 === 0,
    skewMs: Array.from({ length: processes }, () => random.between(-60_000, 60_000)),
    // What is sent twice is two messages to who goes by position alone.
    messages: Array.from({ length: count }, (_, index) => message(random, index, wildness)).map((each) =>
      shape === 'log by position' ? { ...each, sentAt: each.sentAt.slice(0, 1) } : each,
    ),
    faults: planFaults(random, 20 + count * 12, random.pick([0, 1, 2, 4, 12])),
    disasters: Array.from({ length: random.pick([0, 0, 1, 3]) }, () => ({
      at: random.between(1, 3_000),
      kind: random.pick(['database-crash', 'broker-restart', 'kill', 'freeze'] as const),
      ms: random.between(100, 20_000),
    })),
  }
}

function message(random: Random, index: number, wildness: number): ScenarioMessage {
  const copies = random.pick([1, 1, 2, 3])
  return {
    id: `m${index}`,
    type: random.pick(['single', 'single', 'double', 'bulk', 'ordered', 'ordered']),
    key: random.chance(0.7) ? `k${random.below(4)}` : undefined,
    behaviour: random.chance(wildness) ? random.pick(behaviours) : 'good',
    sentAt: Array.from({ length: copies }, () => random.between(0, 2_000)),
  }
}
