import { inTime } from '../clock/index.ts'
import type { BrokerState, Clock, Events, Publisher, Subscriber } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import { JustonceError } from '../errors/index.ts'
import type { ReportedBroker } from '../facts/index.ts'
import { Loop } from '../loops/loop.ts'

const everyMs = 15_000
/** At the start nothing is being read, and a queue may not be declared yet. */
const firstMs = 1_000
/** A broker that takes longer has no state to tell. */
const answerMs = 10_000
/** One that is being connected to, or a queue that is being declared, is no news. */
const refusalsToTell = 3
/** A heartbeat is small. */
const mostWarnings = 10

type Inspected = Subscriber | Publisher

interface Refusal {
  readonly refusal: string
  /** It is not asked again until it answers. */
  readonly isFinal: boolean
}

/** Asks the brokers now and then how they are, so that heartbeats can tell: operators have only the store. */
export class BrokerWatch {
  readonly #drivers: readonly Inspected[]
  readonly #clock: Clock
  readonly #known = new Map<Inspected, ReportedBroker>()
  /** How often each has refused to answer, in a row. */
  readonly #refusals = new Map<Inspected, number>()
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
    const isComplete = this.#drivers.every((driver) => this.#refusals.get(driver) === 0)
    this.#failures = isComplete ? 0 : this.#failures + 1
    return isComplete ? everyMs : Math.min(everyMs, firstMs * 2 ** (this.#failures - 1))
  }

  async #ask(driver: Inspected): Promise<void> {
    // What was known is no longer true of a broker that does not answer.
    if (this.#asked.has(driver)) return
    const name = 'name' in driver ? driver.name : driver.destination
    const answer = (await inTime(this.#answerOf(driver), { clock: this.#clock, withinMs: answerMs })) ?? {
      refusal: `it has not answered within ${answerMs} ms`,
      isFinal: true,
    }
    if (!('refusal' in answer)) {
      this.#refusals.set(driver, 0)
      this.#known.set(driver, { name, waiting: answer.waiting, warnings: answer.warnings.slice(0, mostWarnings) })
      return
    }
    const refusals = (this.#refusals.get(driver) ?? 0) + 1
    this.#refusals.set(driver, refusals)
    if (answer.isFinal || refusals >= refusalsToTell)
      this.#known.set(driver, { name, ...notChecked(name, answer.refusal) })
    else this.#known.delete(driver)
  }

  async #answerOf(driver: Inspected): Promise<BrokerState | Refusal> {
    this.#asked.add(driver)
    try {
      return (await driver.inspect?.()) ?? { warnings: [] }
    } catch (error) {
      return { refusal: error instanceof Error ? error.message : anyText(error), isFinal: false }
    } finally {
      this.#asked.delete(driver)
    }
  }
}

/** Nobody may take its silence for good news. */
function notChecked(name: string, said: string): BrokerState {
  const { code, message } = new JustonceError('BROKER_NOT_CHECKED', {
    message: `${name} does not say how it is: ${said}`,
  })
  return { warnings: [{ code, message }] }
}
