import { callFaults, type PlannedFault } from './faults.ts'
import { Random } from './random.ts'
import type { Disaster, Scenario, ScenarioMessage } from './scenario.ts'
import { timedId } from './timed-ids.ts'

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** So much time passes at once, at this moment. */
export interface Leap {
  readonly at: number
  readonly ms: number
}

/** How long records are kept, and the nights in which they grow old. */
export interface RetentionPlan {
  /** The setting of each process; undefined: to keep them for ever. */
  readonly days: readonly (number | undefined)[]
  readonly tooOld: 'dead-letter' | 'skip'
  /** Records of ids without a time go a day after they were made, and it is accepted that copies run again then. */
  readonly timeless: boolean
  readonly leaps: readonly Leap[]
}

/** What only happens where records are removed, and where it matters when. */
const steps = [
  'raise-horizon',
  'remove-records',
  'remove-records',
  'prepare-records',
  'pin-scheme',
  'acquire-lease',
  'renew-lease',
  'release-lease',
  'claim',
  'look',
]

/** The same world with records that are removed, ids that carry a time, and copies that come days late. */
export function retained(scenario: Scenario): Scenario {
  // Of its own: what is drawn here must not change what worlds are like without it.
  const random = new Random(scenario.seed * 40_503 + 7)
  const leaps = leapsOf(random)
  const end = endOf(leaps.at(-1))
  const { processes, shape } = scenario
  const messages = scenario.messages.map((message) => aging(random, message, leaps))
  return {
    ...scenario,
    // By less than an hour: beyond that an id is from the future for some.
    skewMs: Array.from({ length: processes }, () => random.between(-50, 50) * 60_000),
    messages: messages.map((each) =>
      shape === 'log by position' ? { ...each, sentAt: each.sentAt.slice(0, 1) } : each,
    ),
    faults: [...scenario.faults, ...Array.from({ length: random.pick([0, 1, 2, 4]) }, () => fault(random))],
    disasters: [
      ...scenario.disasters,
      ...Array.from({ length: random.pick([0, 0, 1, 2]) }, () => disaster(random, leaps)),
    ],
    // When nothing goes wrong any more: an operator must not act upon what was true before somebody froze.
    ...(scenario.mendedAt !== undefined && { mendedAt: end + 100_000 }),
    retention: {
      days: Array.from({ length: processes }, (_, index) => (index === 0 ? 1 : random.pick([1, 1, 2, 30, undefined]))),
      tooOld: random.pick(['dead-letter', 'skip']),
      timeless: random.chance(0.3),
      leaps,
    },
  }
}

/** The same world with three processes, which are replaced by ones with a renamed handler, before the night or after it. */
export function retainedDeployed(scenario: Scenario): Scenario {
  const { mendedAt, ...aging } = retained({ ...scenario, processes: 3 })
  const random = new Random(scenario.seed * 40_503 + 9)
  const leap = random.pick(aging.retention?.leaps ?? [])
  const at = random.chance(0.5) ? (leap?.at ?? 0) - random.below(3_000) : endOf(leap) + random.below(3_000)
  return { ...aging, deployAt: Math.max(1, at) }
}

export function endOf(leap: Leap | undefined): number {
  return leap === undefined ? 0 : leap.at + leap.ms
}

/** Either the horizon passes what was sent before and its record is still there, or the record goes, too. */
function leapsOf(random: Random): Leap[] {
  const leaps: Leap[] = []
  for (let left = random.pick([1, 1, 2]); left > 0; left--) {
    const at = endOf(leaps.at(-1)) + random.between(500, 6_000)
    const tillMorning = random.pick([hourMs, dayMs, dayMs + hourMs, dayMs + hourMs])
    leaps.push({ at, ms: tillMorning + random.between(-5_000, random.pick([5_000, 55 * 60_000])) })
  }
  return leaps
}

function aging(random: Random, message: ScenarioMessage, leaps: readonly Leap[]): ScenarioMessage {
  const morning = endOf(random.pick(leaps))
  // A process that was down over night has its first copy in the morning; what is made in the morning is new then.
  const kind = random.pick([
    'new',
    'new',
    'new',
    'new',
    'late',
    'morning',
    'old',
    'edge',
    'future',
    'timeless',
  ] as const)
  const isFirstInTheMorning = kind === 'late' || kind === 'morning'
  const first = isFirstInTheMorning ? message.sentAt.map((at) => morning + at) : message.sentAt
  const copies = Array.from({ length: random.pick([0, 1, 1, 2]) }, () => morning + random.between(0, 4_000))
  const sentAt = [...first, ...copies]
  if (kind === 'timeless') return { ...message, sentAt }
  const born = bornAs(random, kind, { sentAt: Math.min(...message.sentAt), morning, end: endOf(leaps.at(-1)) })
  return { ...message, id: timedId(message.id, born), sentAt }
}

interface Times {
  readonly sentAt: number
  readonly morning: number
  readonly end: number
}

function bornAs(
  random: Random,
  kind: 'new' | 'late' | 'morning' | 'old' | 'edge' | 'future',
  { sentAt, morning, end }: Times,
): number {
  switch (kind) {
    case 'morning':
      return morning + sentAt - random.below(1_000)
    // A day old: the horizon is about to pass it, or has just passed it.
    case 'old':
      return random.between(-3_000, 3_000) - dayMs
    // Of those whose records are just about to be removed in the morning.
    case 'edge':
      return Math.min(sentAt, morning - dayMs - hourMs + random.between(-2_000, 2_000))
    // Its time has come for everybody when the nights are over.
    case 'future':
      return Math.min(sentAt + hourMs + random.between(-50, 60) * 60_000, end - 51 * 60_000)
    default:
      return sentAt - random.below(5_000)
  }
}

function fault(random: Random): PlannedFault {
  return { nth: random.below(random.pick([1, 3, 8])), step: random.pick(steps), fault: random.pick(callFaults) }
}

function disaster(random: Random, leaps: readonly Leap[]): Disaster {
  return {
    at: endOf(random.pick(leaps)) + random.between(0, 2_000),
    kind: random.pick(['database-crash', 'broker-restart', 'kill', 'kill', 'freeze', 'freeze'] as const),
    ms: random.between(100, 20_000),
  }
}
