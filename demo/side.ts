import { setTimeout as pause } from 'node:timers/promises'
import { countParked } from '../src/operations/index.ts'
import { type Bank, createTables, openBank } from './bank.ts'
import { type Broker, openBroker } from './broker.ts'
import { Crew, type CrewOptions } from './crew.ts'
import { Killer } from './killer.ts'
import type { Plan } from './plan.ts'
import { Producer } from './producer.ts'
import { type Tally, tally } from './tally.ts'

/** How far a side has come, as seen at its broker. */
export interface Progress {
  readonly total: number
  readonly consumed: number
  readonly kills: number
  readonly isDone: boolean
}

const lookEveryMs = 20
const longestStandstillMs = 30_000
const longestStopMs = 5_000

/** One of the two runs: its database, its producer, its workers and their killer. */
export class Side {
  readonly name: string
  readonly #plan: Plan
  readonly #crewOptions: CrewOptions
  progress: Progress

  constructor(name: string, plan: Plan, crewOptions: CrewOptions) {
    this.name = name
    this.#plan = plan
    this.#crewOptions = crewOptions
    this.progress = { total: plan.copies.length, consumed: 0, kills: 0, isDone: false }
  }

  async run(signal: AbortSignal): Promise<Tally> {
    const bank = await openBank(this.#crewOptions.place.bank)
    try {
      await createTables(bank)
      const broker = await openBroker(this.#crewOptions.place.broker, bank)
      try {
        await broker.create()
        return await this.#runOn(bank, broker, signal)
      } finally {
        await broker.close()
      }
    } finally {
      await bank.close()
    }
  }

  async #runOn(bank: Bank, broker: Broker, signal: AbortSignal): Promise<Tally> {
    const producer = new Producer(broker.transport, this.#plan.copies)
    const crew = new Crew(this.#crewOptions)
    const killer = new Killer(this.#plan.kills, (victim) => crew.kill(victim))
    let unsettled: number
    do {
      let stopPatienceMs = 0
      crew.start()
      try {
        await this.#untilDone({ bank, broker, producer, crew, killer, signal })
        stopPatienceMs = longestStopMs
      } finally {
        await crew.stop(stopPatienceMs)
      }
      // Workers that have gone have given back what they held, whatever they said before.
      unsettled = await broker.countUnsettled(0)
    } while (unsettled > 0)
    return await tally(bank, { payments: this.#plan.payments, sent: producer.sent, unsettled, kills: crew.kills })
  }

  async #untilDone(run: RunningParts): Promise<void> {
    const { bank, broker, producer, crew, killer, signal } = run
    for (let movedAt = performance.now(); ; ) {
      signal.throwIfAborted()
      if (crew.failure !== undefined) throw crew.failure
      await producer.sendUpTo(this.#plan.sendable(crew.kills))
      const unsettled = await broker.countUnsettled(crew.held)
      const before = this.progress
      const isDone =
        producer.isDone &&
        killer.isDone &&
        unsettled === 0 &&
        (await countParked(bank.store, { state: 'waiting' })) === 0
      this.progress = { ...before, consumed: producer.sent - unsettled, kills: crew.kills, isDone }
      if (isDone) return
      killer.look(this.progress.consumed, signal)
      if (before.consumed !== this.progress.consumed || before.kills !== crew.kills) movedAt = performance.now()
      else if (performance.now() - movedAt > longestStandstillMs) throw new Error(this.#standstill(unsettled))
      await pause(lookEveryMs, undefined, { signal }).catch(() => {})
    }
  }

  #standstill(unsettled: number): string {
    return `${this.name} has stood still for ${longestStandstillMs / 1_000} s with ${unsettled} messages unsettled.`
  }
}

interface RunningParts {
  readonly bank: Bank
  readonly broker: Broker
  readonly producer: Producer
  readonly crew: Crew
  readonly killer: Killer
  readonly signal: AbortSignal
}
