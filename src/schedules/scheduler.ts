import type { Clock, Events, Fact, PublishedMessage, Store } from '../contracts/index.ts'
import { isJustonceError } from '../errors/index.ts'
import { databaseNow } from '../facts/index.ts'
import { factOf, readState, writeState } from '../facts/schedule-facts.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { type Decision, decideTicks } from './decide-ticks.ts'
import type { Schedule } from './schedule.ts'

export interface SchedulerParts {
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
  readonly gate: Gate
  readonly schedules: readonly Schedule[]
  /** The message of a tick, always under the same id. */
  messageOf(schedule: Schedule, tick: Date): PublishedMessage
  readonly outlet: {
    store(tx: unknown, messages: readonly PublishedMessage[]): Promise<void>
    committed(messages: readonly PublishedMessage[]): void
  }
}

/**
 * Looks at least this often: another process may have changed a schedule, the database's clock may have been set, and a machine may have
 * slept. Well within the time in which a tick is not yet missed.
 */
const lookMs = 30_000
/** What is known of a schedule that nobody has any more is forgotten some time after its next tick would have come. */
const keptMs = 90 * 86_400_000
const soonMs = 5
/** When to try again a schedule that has failed. */
const failedAgainMs = 10_000

type Advance = Extract<Decision, { readonly kind: 'advance' }>

/**
 * Publishes the messages of schedules. Every process runs one. A message is stored in the transaction that advances its schedule in
 * the store, and only one process can advance it from where it is: so each tick has one message, however many processes there are.
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #loop: Loop
  /** Schedules that this process has not yet announced. */
  readonly #fresh: Set<Schedule>
  /** The database's clock, minus the monotonic clock of this process, when it was last asked. */
  #offsetMs = 0

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#fresh = new Set(parts.schedules)
    const { clock, events, gate } = parts
    const afterFailure = { leastMs: 1_000, mostMs: 30_000 }
    this.#loop = new Loop({ name: 'schedules', clock, events, gate, round: () => this.#round(), afterFailure })
  }

  start(): void {
    this.#loop.start()
  }

  stop(): Promise<void> {
    return this.#loop.stop()
  }

  async #round(): Promise<number> {
    const { store, schedules, clock } = this.#parts
    const facts = await store.facts.read(schedules.map(factOf))
    // Asked each time: what the clock of this process has counted since says nothing if the machine has slept.
    const now = (await databaseNow(store)).getTime()
    this.#offsetMs = now - clock.monotonicMs()
    let wakeAt = Number.POSITIVE_INFINITY
    for (const [index, schedule] of schedules.entries()) {
      try {
        wakeAt = Math.min(wakeAt, await this.#look(schedule, facts[index], now))
      } catch (error) {
        // One whose message cannot be made must not keep the others from being made.
        this.#loop.failed(error)
        wakeAt = Math.min(wakeAt, this.#estimated + failedAgainMs)
      }
    }
    return Math.min(lookMs, Math.max(soonMs, wakeAt - this.#estimated))
  }

  /** Makes what is due. Resolves to when to look again. */
  async #look(schedule: Schedule, fact: Fact | undefined, now: number): Promise<number> {
    const decision = decideTicks(schedule, readState(fact?.value), { now, isNew: this.#fresh.has(schedule) })
    if (decision.kind === 'advance') return await this.#advance(schedule, decision, fact?.revision)
    this.#fresh.delete(schedule)
    return decision.until
  }

  /** What the database's clock says now, as far as this process knows. */
  get #estimated(): number {
    return this.#offsetMs + this.#parts.clock.monotonicMs()
  }

  /** Resolves to when to look again. */
  async #advance(schedule: Schedule, decision: Advance, from: number | undefined): Promise<number> {
    const { store, outlet, events, messageOf } = this.#parts
    const { state, ticks, areMissed } = decision
    const messages = ticks.map((tick) => messageOf(schedule, new Date(tick)))
    const forMs = keptMs + 2 * (state.next - state.since)
    const change = { name: factOf(schedule), from, value: writeState(state), forMs }
    try {
      await store.transaction(async (tx) => {
        const [revision] = await store.facts.change(tx, [change])
        if (revision === undefined) throw new AnotherWasFirst()
        if (messages.length > 0) await outlet.store(tx, messages)
      })
    } catch (error) {
      // Look at what the other one has made of it.
      if (error instanceof AnotherWasFirst || isJustonceError(error, 'CLAIM_LOST')) return 0
      throw error
    }
    this.#fresh.delete(schedule)
    if (messages.length > 0) outlet.committed(messages)
    if (areMissed)
      events.emit({ kind: 'ticks-missed', schedule: schedule.name, missed: schedule.missed, made: ticks.length })
    return state.next
  }
}

class AnotherWasFirst extends Error {}
