import type { Way } from '../rounds.ts'
import type { ConsumerName } from '../transfers/consumers.ts'
import { measure, measureDuplicates, type Setup } from '../transfers/measure.ts'
import type { PoolOf } from './pools.ts'
import { measureQueue } from './queue.ts'
import type { Connections, Rival } from './rivals.ts'
import { messagesIn, oneInFlight, type Situation, situations, tenInFlight, usual } from './situations.ts'

export interface WaysOptions {
  readonly rttMs: number
  readonly messages: number
  readonly poolOf: PoolOf
  readonly connections: Connections
}

/** A way of working in every situation in which it is measured. */
interface Contender {
  readonly name: string
  readonly against: Rival
  readonly in: readonly Situation[]
  readonly keyed?: boolean
  /** More messages for what is so fast that a measurement would be over before it is up to speed. */
  readonly times?: number
  /** What the ratio should be, by the round trip in milliseconds. */
  readonly goal?: (situation: Situation) => Readonly<Record<number, number>> | undefined
  measure(setup: Setup): ReturnType<Way['measure']>
}

const full = situations.filter(({ inFlight }) => inFlight >= 200)

const onceGoal = { 0: 0.95, 0.5: 0.98 }

const consumer = (name: ConsumerName) => (setup: Setup) => measure(name, setup)

const contenders: readonly Contender[] = [
  { name: 'bare', against: 'bare', in: situations, measure: consumer('bare') },
  { name: 'insert-first', against: 'bare', in: situations, measure: consumer('insert-first') },
  {
    name: 'handlers',
    against: 'bare',
    in: situations,
    goal: ({ inFlight }) => (inFlight > 1 ? { 0: 1, 0.5: 1 } : undefined),
    measure: consumer('handlers'),
  },
  {
    name: 'handlers-key',
    against: 'bare',
    in: full,
    keyed: true,
    goal: ({ isHot }) => (isHot ? { 0: 1, 0.5: 1 } : { 0: 2, 0.5: 1.5 }),
    measure: consumer('handlers'),
  },
  {
    name: 'handlers-interleaved',
    against: 'bare',
    in: full,
    times: 3,
    goal: ({ isHot }) => (isHot ? undefined : { 0: 5, 0.5: 7 }),
    measure: consumer('interleaved'),
  },
  {
    name: 'batch',
    against: 'bare',
    in: full,
    times: 8,
    goal: ({ isHot }) => (isHot ? undefined : { 0: 20, 0.5: 15 }),
    measure: consumer('batch'),
  },
  {
    name: 'duplicates',
    against: 'bare',
    in: [usual],
    times: 16,
    goal: () => ({ 0: 50, 0.5: 50 }),
    measure: measureDuplicates,
  },
  {
    name: 'lone',
    against: 'insert-first',
    in: [oneInFlight],
    goal: () => ({ 0: 0.95, 0.5: 0.95 }),
    measure: consumer('handlers'),
  },
  { name: 'queue', against: 'bare', in: [usual], measure: measureQueue },
  {
    name: 'once',
    against: 'insert-first',
    in: [tenInFlight, oneInFlight],
    goal: () => onceGoal,
    measure: consumer('once'),
  },
  {
    name: 'insert-first-result',
    against: 'insert-first-result',
    in: [tenInFlight],
    measure: consumer('insert-first-result'),
  },
  {
    name: 'once-result',
    against: 'insert-first-result',
    in: [tenInFlight],
    goal: () => onceGoal,
    measure: consumer('once-result'),
  },
]

/** Everything that is measured at one distance. */
export function waysAt({ rttMs, messages, poolOf, connections }: WaysOptions): Way[] {
  return situations.flatMap((situation) =>
    contenders
      .filter((contender) => contender.in.includes(situation))
      .map(({ name, against, keyed, times = 1, goal, ...contender }) => {
        const workload = messagesIn(situation, { messages: messages * times, keyed })
        const pool = poolOf(connections(name === 'insert-first' ? name : against, situation))
        const atLeast = goal?.(situation)?.[rttMs]
        return {
          name: name + situation.suffix,
          against: against + situation.suffix,
          ...(atLeast !== undefined && { goal: { atLeast } }),
          measure: () => contender.measure({ pool, workload, inFlight: situation.inFlight }),
        }
      }),
  )
}
