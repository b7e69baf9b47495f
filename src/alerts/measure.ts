import type { Operations, Overview } from '../operations/index.ts'
import type { AlertCondition, AlertRule } from './rule.ts'

const minutes = 5
/** A share of less than this says nothing. */
const leastSample = 20

export type Measured = (rule: Pick<AlertRule, 'when' | 'least'>) => number | undefined

/** What is looked at. */
export interface Measurable extends Pick<Operations, 'overview' | 'processes'> {
  /** Whose processes may be missing: others on the same store are none of its business. */
  readonly app: string | undefined
}

/** Looks once at everything that the rules ask for. */
export async function measure(
  { overview, processes, app }: Measurable,
  rules: readonly Pick<AlertRule, 'when'>[],
  now: number,
): Promise<Measured> {
  const asked = new Set<AlertCondition>(rules.map(({ when }) => when))
  const seen = await overview({ minutes: asked.has('duplicate-rate') || asked.has('failure-rate') ? minutes : 0 })
  const alive = asked.has('processes-missing') ? (await processes()).filter((each) => each.app === app).length : 0
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
      case 'broker-lag':
        return Math.max(0, ...Object.values(seen.brokers))
      case 'outgoing-stuck':
        return oldestOf(seen.outgoing)
      case 'oldest-waiting':
        return Math.max(0, now - (seen.parked.waitingSince?.getTime() ?? now))
      case 'processes-missing':
        return Math.max(0, least - alive)
    }
  }
}

function shareOf(part: number, rest: number): number | undefined {
  return part + rest < leastSample ? undefined : part / (part + rest)
}

function oldestOf(queues: Overview['queues']): number {
  return Math.max(0, ...Object.values(queues).map(({ oldestMs = 0 }) => oldestMs))
}
