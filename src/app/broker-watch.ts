import { inTime } from '../clock/index.ts'
import type { BrokerState, Clock, Events, Publisher, Subscriber } from '../contracts/index.ts'
import type { ReportedBroker } from '../facts/index.ts'
import { Loop } from '../loops/loop.ts'

const everyMs = 15_000
/** At the start nothing is being read, and a queue may not be declared yet. */
const firstMs = 1_000
/** A broker that takes longer has no state to tell. */
const answerMs = 10_000
/** A heartbeat is small. */
const mostWarnings = 10

type Inspected = Subscriber | Publisher

/** Asks the brokers now and then how they are, so that heartbeats can tell: operators have only the store. */
export class BrokerWatch {
  readonly #drivers: readonly Inspected[]
  readonly #clock: Clock
  readonly #known = new Map<Inspected, ReportedBroker>()
  /** Asked, and without an answer: another question would hold another connection. */
  readonly #asked = new Set<Inspected>()
  readonly #loop: Loop | undefined
  #hasBegun = false
  /** Rounds in a row in which a broker did not answer. */
  #failures = 0

  constructor(drivers: readonly Inspected[], { clock, events }: { readonly clock: Clock; readonly events: Events }) {
    this.#drivers = drivers.filter(({ inspect }) => inspect !== undefined)
    this.#clock = clock
    const afterFailure = { leastMs: everyMs, mostMs: everyMs }
    if (this.#drivers.length > 0)
      this.#loop = new Loop({ name: 'broker watch', clock, events, round: () => this.#look(), afterFailure })
  }

  get known(): readonly ReportedBroker[] {
    return [...this.#known.values()]
  }

  start(): void {
    this.#loop?.start()
  }

  /** A question that is open ends by itself, at the latest when its driver is closed. */
  stop(): void {
    void this.#loop?.stop()
  }

  async #look(): Promise<number> {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      return firstMs
    }
    await Promise.all(this.#drivers.map((driver) => this.#ask(driver)))
    const isComplete = this.#known.size === this.#drivers.length
    this.#failures = isComplete ? 0 : this.#failures + 1
    return isComplete ? everyMs : Math.min(everyMs, firstMs * 2 ** (this.#failures - 1))
  }

  async #ask(driver: Inspected): Promise<void> {
    // What was known is no longer true of a broker that does not answer; that it does not is reported by those who use it.
    if (this.#asked.has(driver)) return
    const state = await inTime(this.#answerOf(driver), { clock: this.#clock, withinMs: answerMs })
    if (state === undefined) this.#known.delete(driver)
    else {
      const name = 'name' in driver ? driver.name : driver.destination
      this.#known.set(driver, { name, waiting: state.waiting, warnings: state.warnings.slice(0, mostWarnings) })
    }
  }

  async #answerOf(driver: Inspected): Promise<BrokerState | undefined> {
    this.#asked.add(driver)
    try {
      return await driver.inspect?.()
    } catch {
      return undefined
    } finally {
      this.#asked.delete(driver)
    }
  }
}
