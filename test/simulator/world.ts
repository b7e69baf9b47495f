import type { Hints, IncomingMessage, Store, Transport } from '../../src/contracts/index.ts'
import { SimBroker } from './broker/sim-broker.ts'
import { SimLog } from './broker/sim-log.ts'
import { simLogTransport } from './broker/sim-log-transport.ts'
import { simTransport } from './broker/sim-transport.ts'
import { messageBytes } from './burdened.ts'
import type { SimConnection } from './database/connection.ts'
import { type Row, SimDatabase } from './database/sim-database.ts'
import { Faults } from './faults.ts'
import type { Misbehaved } from './handlers.ts'
import { sendInside } from './inside.ts'
import { longestFreezeMs } from './intending.ts'
import type { ClockPlan } from './jumping.ts'
import { type Meddling, meddleWith } from './meddled.ts'
import { Outside, type WayOut, wayOut } from './outside.ts'
import { SimProcess } from './process.ts'
import { hotSide, type RestorePlan } from './restored.ts'
import { endOf } from './retained.ts'
import { RetentionWatch } from './retention-watch.ts'
import type { Disaster, Scenario } from './scenario.ts'
import { Scheduler } from './scheduler.ts'
import { simStore } from './store/sim-store.ts'
import type { SimTx } from './store/sim-tx.ts'

/** What a simulated process runs. */
export type Program = (environment: {
  readonly process: SimProcess
  readonly store: Store<SimTx>
  readonly hints: Hints | undefined
  readonly transport: Transport
  readonly broker: SimBroker | SimLog
  readonly way: WayOut
  readonly scenario: Scenario
  readonly misbehaved: Misbehaved
  /** Which of the processes it is, whichever life. */
  readonly index: number
  /** What an operator can see by looking into the database. */
  readonly tookEffect: (handler: string, id: string) => boolean
}) => void

const dedupOf = {
  queue: 'id',
  database: 'id',
  'log by id': 'id',
  'log by position': 'position',
  'log by both': 'both',
} as const
const faultsEndAfter = 60_000
/** A handler that fails on everything is given little by its breaker: until it has failed on all of it takes half an hour. */
const givesUpAfter = 3_600_000
/** Longer than anybody is frozen. */
const frozenMs = 25_000
/** Longer than a handler may take. */
const calmMs = 3_000
const encoder = new TextEncoder()

/** One run: processes that run the program, a database, a broker, and everything that goes wrong between them. */
export class World {
  readonly scenario: Scenario
  readonly scheduler: Scheduler
  readonly database: SimDatabase
  readonly broker: SimBroker | SimLog
  readonly outside: Outside
  readonly faults: Faults
  readonly misbehaved: Misbehaved = new Set()
  readonly watch: RetentionWatch | undefined
  readonly #hot = hotSide()
  #lastLeapEnd: number
  readonly #program: Program
  readonly #processes: SimProcess[] = []
  readonly #pools: SimConnection[][] = []
  #over = false
  disasters = 0
  deaths = 0

  constructor(scenario: Scenario, program: Program, tracing = false) {
    this.scenario = scenario
    this.#program = program
    this.scheduler = new Scheduler(scenario.seed, tracing)
    this.database = new SimDatabase(this.scheduler)
    this.outside = new Outside(this.scheduler)
    this.broker =
      scenario.shape === 'queue' || scenario.shape === 'database'
        ? new SimBroker(this.scheduler, scenario.order, scenario.deliveryLimit)
        : new SimLog(this.scheduler)
    this.faults = new Faults(scenario.faults)
    this.watch = scenario.retention && new RetentionWatch(this.database, this.outside, scenario)
    this.#lastLeapEnd = endOf(scenario.retention?.leaps.at(-1))
  }

  /** Runs to the end. Resolves to whether everything came to rest. */
  async run(): Promise<boolean> {
    const { scheduler, scenario } = this
    for (let index = 0; index < scenario.processes; index++) this.#boot(index, 0)
    for (const { sentAt, id, type, key, behaviour, large } of scenario.messages) {
      const body = encoder.encode(JSON.stringify({ behaviour, ...(large && { padding: '.'.repeat(messageBytes) }) }))
      for (const at of sentAt)
        scheduler.after(at, () => this.#send({ id, type, key, body, headers: {}, source: 'sim' }))
    }
    if (scenario.restore !== undefined) this.#planRestore(scenario.restore)
    if (scenario.clock !== undefined) this.#planClock(scenario.clock)
    for (const meddling of scenario.meddling ?? []) scheduler.after(meddling.at, () => this.#meddle(meddling))
    for (const disaster of scenario.disasters) scheduler.after(disaster.at, () => this.#strike(disaster))
    if (scenario.deployAt !== undefined)
      for (let index = 0; index < scenario.processes; index++)
        scheduler.after(scenario.deployAt + index * 4_000, () => this.#processes[index]?.die())
    for (const { at, ms } of scenario.retention?.leaps ?? []) scheduler.after(at, () => scheduler.leap(ms))
    const { clock } = scenario
    const rightAt = clock === undefined ? 0 : clock.at + clock.lastsMs
    if (scenario.retention)
      scheduler.after(Math.max(this.#lastLeapEnd, rightAt) + frozenMs, () => this.#sleepUntilAllAreDue())
    scheduler.after(this.#lastLeapEnd + faultsEndAfter, () => {
      this.faults.healed = true
    })
    const lastSentAt = Math.max(this.#lastLeapEnd, ...scenario.messages.flatMap(({ sentAt }) => sentAt))
    const rested = await this.#comeToRest(lastSentAt)
    this.#over = true
    for (const process of this.#processes) process.die()
    return rested
  }

  #send(message: IncomingMessage): void {
    if (this.scenario.shape === 'database') sendInside(this.database, message)
    else this.broker.send(message)
  }

  #meddle(meddling: Meddling): void {
    this.scheduler.note('others', `LEAVE ${meddling.leaves}`)
    for (const pool of this.#pools) meddleWith(pool, meddling)
  }

  #planClock({ at, aheadMs, lastsMs }: ClockPlan): void {
    this.scheduler.after(at, () => {
      this.disasters++
      this.database.moveClock(aheadMs)
      this.#boot(this.scenario.processes, 0)
      this.scheduler.after(lastsMs, () => this.database.moveClock(-aheadMs))
    })
  }

  #planRestore({ backUpAt, at, ms }: RestorePlan): void {
    this.scheduler.after(backUpAt, () => {
      const restore = this.database.backUp()
      this.scheduler.after(at - backUpAt, () => {
        this.disasters++
        restore(ms)
      })
    })
  }

  /** At rest, and still at rest a while later: a frozen process may wake up, an acknowledged message be still in work. */
  async #comeToRest(lastSentAt: number): Promise<boolean> {
    const { scheduler } = this
    const isOver = () => scheduler.now >= this.#lastLeapEnd + givesUpAfter
    while (!isOver()) {
      await scheduler.run(() => isOver() || (scheduler.now > lastSentAt && this.#isAtRest()))
      const calmUntil = scheduler.now + calmMs
      await scheduler.run(() => isOver() || scheduler.now >= calmUntil || !this.#isAtRest())
      if (this.#isAtRest()) return true
    }
    return false
  }

  /**
   * A process that was frozen with an id from the future in its hands has made it wait for too long. What was intended while the
   * clock was ahead is late by as much, and is said to be.
   */
  #sleepUntilAllAreDue(): void {
    const { scheduler, database, scenario } = this
    const isLate = ({ state, reason }: Row) =>
      reason === 'ID_FROM_THE_FUTURE' || (state === 'waiting' && scenario.intents && scenario.clock !== undefined)
    const late = database.scan(undefined, 'parked').filter(({ row }) => isLate(row))
    const lastsMs = Math.max(0, ...late.map(({ row }) => (row.nextAt as Date).getTime() - database.date().getTime()))
    if (lastsMs === 0) return
    scheduler.leap(lastsMs)
    this.#lastLeapEnd = scheduler.now
  }

  #isAtRest(): boolean {
    if (this.#processes.some(({ isPaused, isAlive }) => isPaused && isAlive)) return false
    if (!this.#isBrokerEmpty() || this.database.openTransactions > 0) return false
    if (this.database.scan(undefined, 'queue').length > 0) return false
    // A handler behind one that is a dead letter waits for a person.
    const parked = this.database.scan(undefined, 'parked').map(({ row }) => row)
    if (this.scenario.mendedAt !== undefined) return parked.length === 0
    const dead = parked.filter(({ state }) => state === 'dead')
    return parked.every(
      (row) => row.state === 'dead' || dead.some((other) => isStep(other, row) || isBeforeInLine(other, row)),
    )
  }

  #isBrokerEmpty(): boolean {
    if (this.broker instanceof SimBroker) return this.broker.isEmpty
    if (dedupOf[this.scenario.shape] === 'id') return this.broker.isEmpty()
    return this.broker.isEmpty((partition) => {
      const row = this.database.read(undefined, 'positions', JSON.stringify(['sim', 'sim', String(partition)]))
      return Number(row?.next ?? 0)
    })
  }

  #boot(index: number, generation: number): void {
    const { scheduler, scenario, faults, database } = this
    const network = { scheduler, faults, ...(scenario.intents && { longestFreezeMs }) }
    const process = new SimProcess(`p${index}.${generation}`, scheduler, scenario.skewMs[index] ?? 0)
    this.#processes[index] = process
    const pool: SimConnection[] = []
    this.#pools[index] = pool
    const prepares = scenario.retention !== undefined
    const store = simStore({ process, database, network, prepares, messageBytes, ...(scenario.meddling && { pool }) })
    const transport =
      this.broker instanceof SimBroker
        ? simTransport(process, this.broker, network, scenario)
        : simLogTransport(process, this.broker, network, dedupOf[scenario.shape])
    process.onEnd(() => {
      if (this.#over) return
      this.deaths++
      scheduler.after(scheduler.random.between(100, 3_000), () => this.#boot(index, generation + 1))
    })
    const tookEffect = (handler: string, id: string) =>
      database.scan(undefined, 'effects').some(({ row }) => row.handler === handler && row.message === id)
    const { misbehaved, broker } = this
    const hints = scenario.restore && this.#hot
    const way = wayOut(process, network, this.outside)
    this.#program({ process, store, hints, transport, broker, way, scenario, misbehaved, index, tookEffect })
  }

  #strike({ kind, ms }: Disaster): void {
    this.disasters++
    const victim = this.#processes[this.scheduler.random.below(this.#processes.length)]
    if (kind === 'database-crash') this.database.crash(ms)
    else if (kind === 'broker-restart' && this.scenario.shape !== 'database') this.broker.restart(ms)
    else if (kind === 'broker-restart') this.#restartBoth(ms)
    else if (kind === 'kill') victim?.die()
    else victim?.pause(ms)
  }

  /** Where the database is the queue, it is away as long as a broker would be, and so is the broker that is published to. */
  #restartBoth(ms: number): void {
    this.database.crash(ms)
    this.broker.restart(ms)
  }
}

function isStep(other: Row, row: Row): boolean {
  return other.messageId === row.messageId && Number(other.step) < Number(row.step)
}

/** What follows a message that waits for a person waits, too. */
function isBeforeInLine(other: Row, row: Row): boolean {
  return row.orderKey !== undefined && other.orderKey === row.orderKey && other.handler === row.handler
}
