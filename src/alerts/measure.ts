import type { Parking } from '../contracts/index.ts'
import type { Operations, Overview } from '../operations/index.ts'
import type { AlertCondition, AlertRule } from './rule.ts'

const minutes = 5
/** A share of less than this says nothing. */
const leastSample = 20

export type Measured = (rule: Pick<AlertRule, 'when' | 'least'>) => number | undefined

/** What is looked at. */
export interface Measurable {
  readonly overview: Operations['overview']
  readonly parking: Pick<Parking<never>, 'list'>
}

/** Looks once at everything that the rules ask for. */
export async function measure(
  { overview, parking }: Measurable,
  rules: readonly Pick<AlertRule, 'when'>[],
  now: number,
): Promise<Measured> {
  const asked = new Set<AlertCondition>(rules.map(({ when }) => when))
  const seen = await overview({ minutes: asked.has('duplicate-rate') || asked.has('failure-rate') ? minutes : 0 })
  const [oldest] = asked.has('oldest-waiting')
    ? await parking.list({ state: 'waiting' }, { limit: 1, maxBytes: 1 })
    : []
  const waitingMs = oldest === undefined ? 0 : Math.max(0, now - oldest.parkedAt.getTime())
  const sum = (pick: (minute: Overview['history'][number]) => number): number =>
    seen.history.reduce((total, minute) => total + pick(minute), 0)
  const processed = sum((minute) => minute.processed)
  return ({ when, least }) => {
    switch (when) {
      case 'dead-letters':
        return seen.parked.dead
      case 'unknown-intents':
        return seen.intents.dead
      case 'duplicate-rate':
        return shareOf(
          sum((minute) => minute.knownHere + minute.knownInStore),
          processed,
        )
      case 'failure-rate':
        return shareOf(
          sum((minute) => minute.failed),
          processed,
        )
      case 'lag':
        return oldestOf(seen.queues)
      case 'outgoing-stuck':
        return oldestOf(seen.outgoing)
      case 'oldest-waiting':
        return waitingMs
      case 'processes-missing':
        return Math.max(0, least - seen.processes)
    }
  }
}

function shareOf(part: number, rest: number): number | undefined {
  return part + rest < leastSample ? undefined : part / (part + rest)
}

function oldestOf(queues: Overview['queues']): number {
  return Math.max(0, ...Object.values(queues).map(({ oldestMs = 0 }) => oldestMs))
}
