import { forgetfulApp } from '../real-app.ts'
import { onStore } from './broken-stores.ts'
import type { Exhibit } from './exhibit.ts'

/** The real engine on a store that forgets what it has to know about failures. */
export const brokenFailures: readonly Exhibit[] = [
  {
    name: 'order-lost-at-the-failure-edge',
    flaw: 'Nobody asks whether an earlier message of the key waits for its retry: later ones overtake it.',
    caughtAs: 'DISORDER',
    broughtOutBy: 'throws-once',
    program: onStore((store) => ({
      ...store,
      parking: { ...store.parking, blocked: async (_, scopes) => scopes.map(() => false) },
    })),
  },
  {
    name: 'followers-do-not-wait-for-their-turn',
    flaw: 'Every waiting message is due, not only the first of its key: followers are taken while the first is retried.',
    caughtAs: 'DISORDER',
    broughtOutBy: 'throws-once',
    program: onStore((store) => ({
      ...store,
      parking: {
        ...store.parking,
        park: (tx, messages) =>
          store.parking.park(
            tx,
            messages.map((message) => ({ ...message, orderKey: undefined })),
          ),
      },
    })),
  },
  {
    name: 'poison-is-never-counted',
    flaw: 'A message that kills its process comes again and kills the next one, for ever.',
    caughtAs: 'STUCK',
    broughtOutBy: 'kills-always',
    program: onStore((store) => ({
      ...store,
      facts: { ...store.facts, change: async (_, changes) => changes.map(() => 1) },
    })),
  },
  {
    name: 'poisonous-retry-is-never-counted',
    flaw: 'The row of a message whose retry kills the process does not know that an attempt had begun.',
    caughtAs: 'STUCK',
    broughtOutBy: 'throws-then-kills',
    program: onStore((store) => ({
      ...store,
      parking: {
        ...store.parking,
        reserve: async (options) => (await store.parking.reserve(options)).map((row) => ({ ...row, begun: 0 })),
      },
    })),
  },
  {
    name: 'runs-begin-past-their-head',
    flaw: 'What follows on a reserved message of its key is taken without looking at what lies between.',
    caughtAs: 'DISORDER',
    broughtOutBy: 'throws-once',
    program: onStore((store) => ({
      ...store,
      parking: {
        ...store.parking,
        async reserve(options) {
          const reserved = await store.parking.reserve(options)
          return options.behind === undefined ? reserved : reserved.slice(1)
        },
      },
    })),
  },
  {
    name: 'removed-handlers-are-never-missed',
    flaw: 'Nobody asks what waits for handlers that a deploy has removed: it stays there, and what follows it never runs.',
    caughtAs: 'STUCK',
    broughtOutBy: 'throws-once',
    isDeployed: true,
    program: onStore((store) => ({
      ...store,
      parking: {
        ...store.parking,
        tally: async (filter, by, limit) =>
          by.some((column) => column === 'type') ? [] : await store.parking.tally(filter, by, limit),
      },
    })),
  },
  {
    name: 'renamed-without-its-old-name',
    flaw: 'A handler is renamed by a deploy without saying what it was called: copies of what it has done run again.',
    caughtAs: 'DOUBLED',
    isDeployed: true,
    program: forgetfulApp,
  },
  {
    name: 'every-failure-is-an-outage',
    flaw: "A handler's own statement that fails as if the store were away is believed: its batch comes again, for ever.",
    caughtAs: 'STUCK',
    broughtOutBy: 'looks-away',
    program: onStore((store) => {
      let isBelieved = false
      return {
        ...store,
        lend(tx, options) {
          const loan = store.lend(tx, options)
          const end = () => {
            const report = loan.end()
            isBelieved ||= report.trouble === 'unavailable'
            return report
          }
          return { ...loan, end }
        },
        async ping() {
          if (!isBelieved) return await store.ping()
          isBelieved = false
          throw new Error('it must be away')
        },
      }
    }),
  },
  {
    name: 'too-large-and-nobody-says-so',
    flaw: 'A store refuses what is too large without having said what it can hold: such a message never ends anywhere.',
    caughtAs: 'STUCK',
    large: true,
    program: onStore(({ limits: _, ...store }) => store),
  },
  {
    name: 'everyone-present-is-blamed',
    flaw: 'Whatever was near when a process died is counted as if it had been alone, and given up with the culprit.',
    caughtAs: 'GIVEN UP',
    broughtOutBy: 'kills-always',
    program: onStore((store) => ({
      ...store,
      facts: {
        ...store.facts,
        read: async (names) =>
          (await store.facts.read(names)).map((fact, place) =>
            fact && names[place]?.startsWith('suspect ') ? { ...fact, value: String(Number(fact.value) * 8) } : fact,
          ),
      },
    })),
  },
]
