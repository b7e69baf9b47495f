import type { Facts, Store } from '../../../src/contracts/index.ts'
import { once, type Participant, type ReservationCall } from '../../../src/index.ts'
import { overriding } from '../../../src/testing/overriding.ts'
import type { Row } from '../database/sim-database.ts'
import type { Order } from '../reservations/plan.ts'
import { outcomesTable, type ReservationProgram, realApp, resourceIn, stepsOf } from '../reservations/real-app.ts'
import type { ResourceIn } from '../reservations/world.ts'
import type { SimTx } from '../store/sim-tx.ts'

/** A reservation that does not take everything or nothing. */
export interface ReservationExhibit {
  readonly name: string
  readonly flaw: string
  readonly caughtAs: 'HELD' | 'TORN' | 'MIXED' | 'DOUBLED' | 'REPORTED' | 'LOST' | 'STUCK'
  /** It is given worlds in which the database that knows what was decided is restored. */
  readonly isRestored?: boolean
  /** It is given worlds in which processes freeze in the middle of a step while others take over. */
  readonly isHaunted?: boolean
  readonly program?: ReservationProgram
  readonly participantOf?: ResourceIn
}

export const brokenReservations: readonly ReservationExhibit[] = [
  {
    name: 'cancel-overtakes-its-try',
    flaw: 'A cancel looks whether there was a try, and does nothing if it sees none: one that is running then is never given back.',
    caughtAs: 'HELD',
    isHaunted: true,
    participantOf: (store) => ({
      ...resourceIn(store),
      async cancel(call) {
        const [tried] = await store.inbox.find([recordOf(call, 'try')])
        if (tried !== undefined) await resourceIn(store).cancel(call)
      },
    }),
  },
  {
    name: 'try-after-its-cancel',
    flaw: 'A cancel for which nothing was set aside leaves no trace: a try that arrives after it sets aside what nobody ends.',
    caughtAs: 'HELD',
    isHaunted: true,
    participantOf: (store) =>
      eachStepOnce(store, {
        async cancel(tx, call) {
          const isTried = await store.inbox.find([recordOf(call as Call, 'try')])
          if (isTried[0] !== undefined) await stepsOf().cancel(tx, call)
        },
      }),
  },
  {
    name: 'cancel-without-its-try',
    flaw: 'A cancel gives back without asking whether anything was set aside.',
    caughtAs: 'TORN',
    participantOf: (store) => eachStepOnce(store, {}),
  },
  {
    name: 'steps-that-take-effect-each-time',
    flaw: 'Steps are not recorded: what is repeated after a lost answer takes effect again.',
    caughtAs: 'DOUBLED',
    participantOf: (store) => ({
      try: (call) => store.transaction((tx) => stepsOf().try(tx, call)),
      confirm: (call) => store.transaction((tx) => stepsOf().confirm(tx, call)),
      cancel: (call) => store.transaction((tx) => stepsOf().cancel(tx, call)),
    }),
  },
  {
    name: 'decided-by-everybody',
    flaw: 'Nobody looks whether another process has decided meanwhile: one that was frozen confirms what the other has cancelled.',
    caughtAs: 'TORN',
    isHaunted: true,
    participantOf: (store) => eachStepOnce(store, { cancel: ifTried(store) }),
    program: onFacts((facts) => ({
      async change(tx, changes) {
        const known = await facts.read(changes.map(({ name }) => name))
        const forced = changes.map((change, index) =>
          change.name.startsWith('reservation ') ? { ...change, from: known[index]?.revision } : change,
        )
        return await facts.change(tx, forced)
      },
    })),
  },
  {
    name: 'decision-that-is-not-kept',
    flaw: 'What was decided is not stored: who takes over decides again, by what the participants say then.',
    caughtAs: 'MIXED',
    isHaunted: true,
    participantOf: (store) => eachStepOnce(store, { cancel: ifTried(store) }),
    program: onFacts((facts) => ({
      async read(names) {
        const known = await facts.read(names)
        return known.map((fact, index) => (names[index]?.startsWith('reservation ') ? undefined : fact))
      },
      async change(tx, changes) {
        const kept = changes.filter(({ name }) => !name.startsWith('reservation '))
        const revisions = kept.length === 0 ? [] : [...(await facts.change(tx, kept))]
        return changes.map(({ name }) => (name.startsWith('reservation ') ? 1 : revisions.shift()))
      },
    })),
  },
  {
    name: 'confirm-and-cancel-know-nothing-of-each-other',
    flaw: 'Confirm and cancel have records of their own: when the decision was lost with a backup, both take effect.',
    caughtAs: 'TORN',
    isRestored: true,
    participantOf: (store) => eachStepOnce(store, { cancel: ifTried(store) }),
  },
  {
    name: 'outcome-by-what-was-tried',
    flaw: 'An order counts as confirmed as soon as everything is set aside, whatever is decided then.',
    caughtAs: 'REPORTED',
    program: onOutcomes((row) => ({ ...row, outcome: 'confirmed' })),
  },
  {
    name: 'outcome-that-is-not-kept',
    flaw: 'The outcome of an order is shown and not stored: nobody learns what has become of it.',
    caughtAs: 'LOST',
    program: onOutcomes(() => undefined),
  },
  {
    name: 'never-decided',
    flaw: 'A participant that does not answer is asked for ever: its order is never decided, and holds what the others have set aside.',
    caughtAs: 'STUCK',
    participantOf: (store) => ({
      ...resourceIn(store),
      async cancel() {
        throw new Error('not now')
      },
    }),
  },
]

type Call = ReservationCall<Order>
type Steps = ReturnType<typeof stepsOf>

function recordOf({ reservation, participant, id }: Call, step: string) {
  return { handler: `${reservation}/${participant}/${step}`, key: id }
}

/** Each step once, with a record of its own, and no more than that. */
function eachStepOnce(store: Store<SimTx>, changed: Partial<Steps>): Participant<Order> {
  const steps = { ...stepsOf(), ...changed }
  const step = (name: keyof Steps) => async (call: Call) => {
    const { status } = await once(store, recordOf(call, name), async (tx) => {
      await steps[name](tx, call)
    })
    if (status === 'busy' || status === 'parked') throw new Error('still running')
  }
  return { try: step('try'), confirm: step('confirm'), cancel: step('cancel') }
}

/** Claims the record of the try, so that none can come after it. */
function ifTried(store: Store<SimTx>): Steps['cancel'] {
  return async (tx, call) => {
    const tried = await once(store.within(tx), recordOf(call as Call, 'try'), () => {})
    if (tried.status === 'duplicate') await stepsOf().cancel(tx, call)
  }
}

/** What the app writes about the outcome of an order is changed, or left out. */
function onOutcomes(change: (row: Row) => Row | undefined): ReservationProgram {
  return (environment) => {
    const { store } = environment
    const lend: typeof store.lend = (tx, options) => {
      const loan = store.lend(tx, options)
      const insert: SimTx['insert'] = async (table, key, row) => {
        const changed = table === outcomesTable ? change(row) : row
        return changed === undefined || (await loan.tx.insert(table, key, changed))
      }
      return overriding(loan, { tx: overriding(loan.tx, { insert }) })
    }
    return realApp({ ...environment, store: { ...store, lend } })
  }
}

function onFacts(change: (facts: Facts<SimTx>) => Partial<Facts<SimTx>>): ReservationProgram {
  return (environment) => {
    const { store } = environment
    return realApp({ ...environment, store: { ...store, facts: { ...store.facts, ...change(store.facts) } } })
  }
}
