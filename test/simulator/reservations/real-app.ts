import type { Store } from '../../../src/contracts/index.ts'
import { effects, justonce, type Participant, PermanentError, participantIn } from '../../../src/index.ts'
import type { SimProcess } from '../process.ts'
import type { SimTx } from '../store/sim-tx.ts'
import type { Order, ReservationPlan, Resource } from './plan.ts'

export interface Environment {
  readonly process: SimProcess
  readonly plan: ReservationPlan
  /** Of the app, and of each resource: all in databases of their own. */
  readonly store: Store<SimTx>
  readonly participants: Readonly<Record<Resource, Participant<Order>>>
}

export interface Running {
  place(order: Order): Promise<void>
}

export type ReservationProgram = (environment: Environment) => Running

/** Orders that have committed, and what the app was told about each. */
export const ordersTable = 'orders'
export const outcomesTable = 'outcomes'

/** What was done to a resource: each run of a step is a row. */
export const stepsTable = 'steps'

/** The real app, as a user would set it up. */
export const realApp: ReservationProgram = ({ process, plan, store, participants }) => {
  const app = justonce({
    log: false,
    heartbeat: false,
    store: store as typeof store & Required<Pick<typeof store, 'queue'>>,
    clock: process.clock,
    effects: effects<{ reserve: Order }>(),
  })
  const { timeoutMs, callTimeoutMs } = plan
  app.reservation('reserve', { participants, timeoutMs, callTimeoutMs })
  app.on('intent.done:reserve', 'report', async ({ body }, { tx }) => {
    const { outcome } = body.result as { readonly outcome: string }
    await tx.insert(outcomesTable, `${body.key}`, { outcome })
  })
  const start = () => void app.start().catch(() => process.clock.timer(500, start))
  start()
  return {
    async place(order) {
      await store.transaction(async (tx) => {
        await tx.insert(ordersTable, order.id, { count: order.count })
        await app.intend('reserve', order, { key: order.id, tx })
      })
    },
  }
}

export type Books = { readonly free: number; readonly held: number; readonly taken: number }

/** A resource as a user would write it: sums, of which nobody can tell afterwards whom they were changed for. */
export function resourceIn(store: Store<SimTx>): Participant<Order> {
  return participantIn<SimTx, Order>(store, stepsOf())
}

let runs = 0

export function stepsOf() {
  const change = async (tx: SimTx, id: string, step: string, by: Books): Promise<void> => {
    let isEnough = true
    await tx.update('books', 'books', (row) => {
      const { free, held, taken } = row as Books
      isEnough = free + by.free >= 0
      return isEnough ? { free: free + by.free, held: held + by.held, taken: taken + by.taken } : row
    })
    if (!isEnough) throw new PermanentError('there is not enough')
    await tx.insert(stepsTable, `${id}|${step}|${runs++}`, { id, step })
  }
  type Call = { readonly body: Order }
  return {
    try: (tx: SimTx, { body: { id, count } }: Call) => change(tx, id, 'try', { free: -count, held: count, taken: 0 }),
    confirm: (tx: SimTx, { body: { id, count } }: Call) =>
      change(tx, id, 'confirm', { free: 0, held: -count, taken: count }),
    cancel: (tx: SimTx, { body: { id, count } }: Call) =>
      change(tx, id, 'cancel', { free: count, held: -count, taken: 0 }),
  }
}
