import type { FactChange } from '../../../src/contracts/index.ts'
import { realApp } from '../real-app.ts'
import type { SimTx } from '../store/sim-tx.ts'
import type { Program } from '../world.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine whose schedules are advanced in a way that makes too many messages, or too few. */
export const brokenSchedules: readonly Exhibit[] = [
  {
    name: 'schedule-advanced-from-anywhere',
    flaw: 'Nobody looks whether a schedule is still where it was: several processes make a message for the same tick.',
    caughtAs: 'TWICE',
    isTicking: true,
    program: advancing(({ store }) => async (tx, change) => {
      const [known] = await store.facts.read([change.name])
      return await store.facts.change(tx, [{ ...change, from: known?.revision }])
    }),
  },
  {
    name: 'schedule-advanced-before-its-message',
    flaw: 'A schedule is advanced in one transaction and its message stored in another: who dies in between loses the tick.',
    caughtAs: 'LOST',
    isTicking: true,
    program: advancing(
      ({ store }) =>
        async (_, change) =>
          await store.facts.change(undefined, [change]),
    ),
  },
]

type Change = (tx: SimTx, change: FactChange) => Promise<readonly (number | undefined)[]>

function advancing(change: (environment: Parameters<Program>[0]) => Change): Program {
  return (environment) => {
    const { store } = environment
    const advance = change(environment)
    realApp({
      ...environment,
      store: {
        ...store,
        facts: {
          ...store.facts,
          async change(tx, changes) {
            const [only] = changes
            const isSchedule = tx !== undefined && only?.name.startsWith('schedule ') === true
            return isSchedule ? await advance(tx, only) : await store.facts.change(tx, changes)
          },
        },
      },
    })
  }
}
