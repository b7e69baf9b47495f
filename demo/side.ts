import { setTimeout as pause } from 'node:timers/promises'
import { queueTransport } from '../src/transports/queue/index.ts'
import { type Bank, createTables, openBank, queueName } from './bank.ts'
import { Crew, type CrewOptions } from './crew.ts'
import { Killer } from './killer.ts'
import type { Plan } from './plan.ts'
import { Producer } from './producer.ts'
import { type Tally, tally } from './tally.ts'

/** How far a side has come, as seen in its database. */
export interface Progress {
  readonly total: number
  readonly consumed: number
  readonly kills: number
  readonly isDone: boolean
}

const lookEveryMs = 20
const longestStandstillMs = 30_000

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
    const bank = await openBank(this.#crewOptions.place)
    try {
      await createTables(bank)
      return await this.#runOn(bank, signal)
    } finally {
      await bank.close()
    }
  }

  async #runOn(bank: Bank, signal: AbortSignal): Promise<Tally> {
    const transport = queueTransport({ store: bank.store, queue: queueName })
    const producer = new Producer(transport, this.#plan.copies)
    const crew = new Crew(this.#crewOptions)
    const killer = new Killer(this.#plan.kills, (victim) => crew.kill(victim))
    let stopPatienceMs = 0
    try {
      await this.#untilDone({ bank, producer, crew, killer, signal })
      stopPatienceMs = 5_000
    } finally {
      await crew.stop(stopPatienceMs)
      await transport.close()
    }
    return await tally(bank, { payments: this.#plan.payments, sent: producer.sent, kills: crew.kills })
  }

  async #untilDone(run: RunningParts): Promise<void> {
    const { bank, producer, crew, killer, signal } = run
    for (let movedAt = performance.now(); ; ) {
      signal.throwIfAborted()
      if (crew.failure !== undefined) throw crew.failure
      await producer.sendUpTo(this.#plan.sendable(crew.kills))
      const { ready, hidden } = await bank.store.queue.count(queueName)
      const before = this.progress
      const isDone =
        producer.isDone &&
        killer.isDone &&
        ready + hidden === 0 &&
        (await bank.store.parking.count({ state: 'waiting' })) === 0
      this.progress = { ...before, consumed: producer.sent - ready - hidden, kills: crew.kills, isDone }
      if (isDone) return
      killer.look(this.progress.consumed, signal)
      if (before.consumed !== this.progress.consumed || before.kills !== crew.kills) movedAt = performance.now()
      else if (performance.now() - movedAt > longestStandstillMs) throw new Error(this.#standstill(ready, hidden))
      await pause(lookEveryMs, undefined, { signal }).catch(() => {})
    }
  }

  #standstill(ready: number, hidden: number): string {
    return `${this.name} has stood still for ${longestStandstillMs / 1_000} s with ${ready} messages ready and ${hidden} hidden.`
  }
}

interface RunningParts {
  readonly bank: Bank
  readonly producer: Producer
  readonly crew: Crew
  readonly killer: Killer
  readonly signal: AbortSignal
}
