import { SimDatabase } from '../database/sim-database.ts'
import { Faults } from '../faults.ts'
import { Hosts } from '../hosts.ts'
import { Random } from '../random.ts'
import { Scheduler } from '../scheduler.ts'
import { simStore } from '../store/sim-store.ts'
import { Outlet } from './outlet.ts'
import { type Destination, destinations, type OutgoingPlan } from './plan.ts'
import type { OutgoingProgram, Running } from './real-app.ts'

const faultsEndAfterMs = 60_000
const givesUpAfterMs = 600_000
/** The apps make ticks for at least this long. */
const leastMs = 20_000

/** Two apps on one database whose messages leave for several brokers: at once, later, and on schedules. */
export class OutgoingWorld {
  readonly plan: OutgoingPlan
  readonly scheduler: Scheduler
  readonly database: SimDatabase
  readonly faults: Faults
  readonly outlets: Readonly<Record<Destination, Outlet>>
  readonly #hosts: Hosts
  readonly #running: Running[] = []
  /** Chooses who does what; the scheduler's own must not depend on it. */
  readonly #random: Random

  constructor(plan: OutgoingPlan, program: OutgoingProgram, tracing = false) {
    this.plan = plan
    this.scheduler = new Scheduler(plan.seed, tracing)
    this.database = new SimDatabase(this.scheduler)
    this.faults = new Faults(plan.faults)
    this.#random = new Random(plan.seed + 1)
    const { scheduler, faults, database } = this
    const network = { scheduler, faults }
    const outletOf = (name: Destination) => new Outlet(name, network, plan.publications)
    this.outlets = { orders: outletOf('orders'), audit: outletOf('audit'), letters: outletOf('letters') }
    this.#hosts = new Hosts({
      scheduler,
      skewMs: plan.skewMs,
      boot: (process, index) => {
        const app = plan.apps[index] ?? 'shop'
        const own = Object.values(this.outlets).filter(({ name }) => destinations[name] === app)
        const publishers = Object.fromEntries(own.map((outlet) => [outlet.name, outlet.publisherFor(process)]))
        const store = simStore({ process, database, network, prepares: false })
        this.#running[index] = program({ app, process, store, publishers, database })
      },
    })
  }

  /** Runs to the end. Resolves to whether everything came to rest. */
  async run(): Promise<boolean> {
    const { scheduler, plan } = this
    this.#hosts.start()
    for (const publication of plan.publications) {
      const { id, at, to, cancelAt } = publication
      scheduler.after(at, () => this.#ask(destinations[to], (running) => running.publish(publication)))
      for (const [attempt, when] of cancelAt.entries())
        scheduler.after(when, () => this.#ask(this.#canceller(to), (running) => running.cancel(id, attempt)))
    }
    for (const { at, kind, ms } of plan.disasters) scheduler.after(at, () => this.#strike(kind, ms))
    this.#planTheRest(plan)
    const times = plan.publications.flatMap(({ at, cancelAt }) => [at, ...cancelAt])
    const lastAt = Math.max(leastMs, endOf(plan), ...times) + 5_000
    scheduler.after(lastAt + faultsEndAfterMs, () => {
      this.faults.healed = true
    })
    // What somebody had in hand when a clock was ahead is free again when the time has come to that.
    const isOver = () => scheduler.now >= lastAt + givesUpAfterMs + (plan.clock?.aheadMs ?? 0)
    await scheduler.run(() => isOver() || (scheduler.now > lastAt && this.#isAtRest()))
    this.#hosts.end()
    return !isOver()
  }

  #planTheRest({ downtime, clock, restore }: OutgoingPlan): void {
    const { scheduler, database } = this
    if (downtime !== undefined) scheduler.after(downtime.at, () => this.#hosts.shutDown(downtime.ms))
    if (clock !== undefined) {
      scheduler.after(clock.at, () => database.moveClock(clock.aheadMs))
      scheduler.after(clock.at + clock.lastsMs, () => database.moveClock(-clock.aheadMs))
    }
    if (restore === undefined) return
    scheduler.after(restore.backUpAt, () => {
      const putBack = database.backUp()
      scheduler.after(restore.at - restore.backUpAt, () => putBack(restore.ms))
    })
  }

  /** Mostly the app that has published it: the other one must not be able to. */
  #canceller(to: Destination): string {
    return this.#random.chance(0.8) ? destinations[to] : this.#random.pick(this.plan.apps)
  }

  /** Somebody's request reaches a process of the app, if one is alive. What becomes of it the database knows. */
  #ask(app: string, request: (running: Running) => Promise<void>): void {
    const alive = [...this.plan.apps.keys()].filter(
      (index) => this.plan.apps[index] === app && this.#hosts.isAlive(index),
    )
    const running = alive.length === 0 ? undefined : this.#running[this.#random.pick(alive)]
    if (running !== undefined) request(running).catch(() => {})
  }

  #strike(kind: OutgoingPlan['disasters'][number]['kind'], ms: number): void {
    if (kind === 'database-crash') this.database.crash(ms)
    else if (kind === 'kill' || kind === 'freeze') this.#hosts.strike(kind, ms)
    else this.outlets[kind].restart(ms)
  }

  #isAtRest(): boolean {
    if (this.#hosts.areFrozen || this.database.isDown || this.database.openTransactions > 0) return false
    return ['queue', 'parked'].every((table) => this.database.scan(undefined, table).length === 0)
  }
}

function endOf({ downtime, clock, restore }: OutgoingPlan): number {
  const ends = [
    downtime === undefined ? 0 : downtime.at + downtime.ms + 5_000,
    clock === undefined ? 0 : clock.at + clock.lastsMs + 20_000,
    restore === undefined ? 0 : restore.at + restore.ms + 20_000,
  ]
  return Math.max(...ends)
}
