import { ServerTransaction } from '../database/server-transaction.ts'
import { rowName, SimDatabase } from '../database/sim-database.ts'
import { Faults } from '../faults.ts'
import { Hosts } from '../hosts.ts'
import { Random } from '../random.ts'
import { Scheduler } from '../scheduler.ts'
import { simStore } from '../store/sim-store.ts'
import { type ReservationPlan, type Resource, resources } from './plan.ts'
import { type Environment, type ReservationProgram, type Running, resourceIn } from './real-app.ts'

const faultsEndAfterMs = 60_000
const givesUpAfterMs = 900_000

/** Makes a participant of a resource in a store; broken ones make another. */
export type ResourceIn = typeof resourceIn

/** An app that reserves in two other databases. */
export class ReservationWorld {
  readonly plan: ReservationPlan
  readonly scheduler: Scheduler
  readonly faults: Faults
  readonly databases: Readonly<Record<'orders' | Resource, SimDatabase>>
  readonly #hosts: Hosts
  readonly #running: Running[] = []
  readonly #random: Random

  constructor(
    plan: ReservationPlan,
    program: ReservationProgram,
    participantOf: ResourceIn = resourceIn,
    tracing = false,
  ) {
    this.plan = plan
    this.scheduler = new Scheduler(plan.seed, tracing)
    this.faults = new Faults(plan.faults)
    this.#random = new Random(plan.seed + 1)
    const { scheduler, faults } = this
    const network = { scheduler, faults }
    this.databases = {
      orders: new SimDatabase(scheduler),
      stock: new SimDatabase(scheduler),
      credit: new SimDatabase(scheduler),
    }
    for (const name of resources) {
      const transaction = new ServerTransaction(0)
      transaction.write(rowName('books', 'books'), { free: plan.free[name], held: 0, taken: 0 })
      this.databases[name].commit(transaction)
    }
    this.#hosts = new Hosts({
      scheduler,
      skewMs: plan.skewMs,
      boot: (process, index) => {
        const storeOf = (name: keyof ReservationWorld['databases']) =>
          simStore({ process, database: this.databases[name], network, prepares: false })
        const participants: Environment['participants'] = {
          stock: participantOf(storeOf('stock')),
          credit: participantOf(storeOf('credit')),
        }
        this.#running[index] = program({ process, plan, store: storeOf('orders'), participants })
      },
    })
  }

  async run(): Promise<boolean> {
    const { scheduler, plan, databases } = this
    this.#hosts.start()
    for (const order of plan.orders)
      scheduler.after(order.at, () => {
        const alive = [...plan.skewMs.keys()].filter((index) => this.#hosts.isAlive(index))
        const running = alive.length === 0 ? undefined : this.#running[this.#random.pick(alive)]
        running?.place(order).catch(() => {})
      })
    for (const { at, kind, ms } of plan.disasters)
      scheduler.after(at, () => {
        if (kind === 'kill' || kind === 'freeze') this.#hosts.strike(kind, ms)
        else databases[kind].crash(ms)
      })
    const { restore } = plan
    if (restore !== undefined)
      scheduler.after(restore.backUpAt, () => {
        const putBack = databases.orders.backUp()
        scheduler.after(restore.at - restore.backUpAt, () => putBack(restore.ms))
      })
    const lastAt =
      Math.max(restore === undefined ? 0 : restore.at + restore.ms, ...plan.orders.map(({ at }) => at)) + 2_000
    scheduler.after(lastAt + faultsEndAfterMs, () => {
      this.faults.healed = true
    })
    const isOver = () => scheduler.now >= lastAt + givesUpAfterMs
    await scheduler.run(() => isOver() || (scheduler.now > lastAt && this.#isAtRest()))
    this.#hosts.end()
    return !isOver()
  }

  #isAtRest(): boolean {
    const all = Object.values(this.databases)
    if (this.#hosts.areFrozen || all.some(({ isDown, openTransactions }) => isDown || openTransactions > 0))
      return false
    return this.databases.orders.scan(undefined, 'parked').length === 0
  }
}
