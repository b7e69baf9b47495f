import type { ClaimRequest, Hints } from '../../src/contracts/index.ts'
import { Random } from './random.ts'
import type { Scenario } from './scenario.ts'

/** The database is put back to what it was, under running processes. */
export interface RestorePlan {
  readonly backUpAt: number
  readonly at: number
  /** How long it is away meanwhile: longer than caches go by what they have heard last. */
  readonly ms: number
}

/**
 * The same world with a backup that is restored, after which everything is sent again. What was published meanwhile cannot
 * be taken back, so nothing is said about that, nor about the order in which things were done twice.
 */
export function restored({ mendedAt, deployAt, ...scenario }: Scenario): Scenario {
  // Of its own: what is drawn here must not change what worlds are like without it.
  const random = new Random(scenario.seed * 69_069 + 3)
  const backUpAt = random.between(1, 2_500)
  const at = backUpAt + random.between(1, 2_000)
  const ms = random.between(1_500, 6_000)
  const messages = scenario.messages.map((message) => ({
    ...message,
    sentAt: [...message.sentAt, ...replays(random).map((later) => at + ms + later)],
  }))
  const isKilled = random.chance(0.3)
  const kills = Array.from({ length: isKilled ? 3 : 0 }, () => ({
    at: at + random.below(ms),
    kind: 'kill' as const,
    ms: 0,
  }))
  return {
    ...scenario,
    shape: 'queue',
    messages,
    disasters: [...scenario.disasters, ...kills],
    restore: { backUpAt, at, ms },
  }
}

/**
 * A log that is read by position, and a backup that is restored: whatever the database has lost is in the log. The backup may
 * be older than anything that was read of a partition, and nothing may come after it that would tell.
 */
export function restoredLog(given: Scenario, shape = shapeOf(given)): Scenario {
  const { mendedAt, deployAt, retention, clock, ...scenario } = given
  const random = new Random(scenario.seed * 69_069 + 7)
  const backUpAt = random.between(1, 1_500)
  // Once, and soon: no night lies between.
  const messages = scenario.messages.map((message) => ({
    ...message,
    sentAt: message.sentAt.slice(0, 1).map((at) => at % 2_000),
  }))
  const restore = { backUpAt, at: backUpAt + random.between(1, 3_000), ms: random.between(1_500, 6_000) }
  return { ...scenario, shape, order: 'keep', messages, restore }
}

function shapeOf({ seed }: Pick<Scenario, 'seed'>): Scenario['shape'] {
  return seed % 2 === 0 ? 'log by position' : 'log by both'
}

export function replays(random: Random): number[] {
  return Array.from({ length: random.pick([1, 1, 2]) }, () => random.between(0, 4_000))
}

/** A hot side that never forgets, as all processes of a world share it. */
export function hotSide(): Hints {
  const known = new Set<string>()
  const name = ({ handler, key }: ClaimRequest, epoch: string) => JSON.stringify([epoch, handler, key])
  return {
    known: async (requests, epoch) => requests.map((request) => known.has(name(request, epoch))),
    committed(requests, epoch) {
      for (const request of requests) known.add(name(request, epoch))
    },
  }
}
