import type { ParkedFilter, Parking } from '../contracts/index.ts'
import type { Operations, Overview } from '../operations/index.ts'
import type { AlertCondition, AlertRule } from './rule.ts'
import { waitingSince } from './waiting-since.ts'

const minutes = 5
/** A share of less than this says nothing. */
const leastSample = 20

export type Measured = (rule: Pick<AlertRule, 'when' | 'least'>) => number | undefined

/** What is looked at. */
export interface Measurable extends Pick<Operations, 'overview' | 'processes'> {
  readonly parking: Pick<Parking<never>, 'list'>
  /** Whose processes may be missing: others on the same store are none of its business. */
  readonly app: string | undefined
}

/** Looks once at everything that the rules ask for. */
export async function measure(
  { overview, processes, parking, app }: Measurable,
  rules: readonly Pick<AlertRule, 'when'>[],
  now: number,
): Promise<Measured> {
  const asked = new Set<AlertCondition>(rules.map(({ when }) => when))
  const seen = await overview({ minutes: asked.has('duplicate-rate') || asked.has('failure-rate') ? minutes : 0 })
  const waitingMs = asked.has('oldest-waiting') ? await longestWait(parking, now) : 0
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
        return waitingMs
      case 'processes-missing':
        return Math.max(0, least - alive)
    }
  }
}

/** Rows come in the order in which they were parked, which one that was redriven no longer stands for. */
async function longestWait(parking: Measurable['parking'], now: number): Promise<number> {
  const first = async (filter: ParkedFilter) => (await parking.list(filter, { limit: 1, maxBytes: 1 }))[0]
  const oldest = await first({ state: 'waiting' })
  const others = oldest?.released ? await first({ state: 'waiting', released: false }) : undefined
  const since = [oldest, others].flatMap((row) => (row === undefined ? [] : [waitingSince(row).getTime()]))
  return since.length === 0 ? 0 : Math.max(0, now - Math.min(...since))
}

function shareOf(part: number, rest: number): number | undefined {
  return part + rest < leastSample ? undefined : part / (part + rest)
}

function oldestOf(queues: Overview['queues']): number {
  return Math.max(0, ...Object.values(queues).map(({ oldestMs = 0 }) => oldestMs))
}
