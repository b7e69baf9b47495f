import type { Clock, Facts } from '../contracts/index.ts'

/** How much of a second is called at once. */
const bursts = 10
/** Others may have the turn, and nobody says when it ends. */
const longestWaitMs = 1_000

/**
 * The rate of one effect in all processes together: whoever makes the fact may start a few calls, and the next may be started when it
 * has expired. Time is the database's.
 */
export class Pace {
  readonly #facts: Pick<Facts<never>, 'change'>
  readonly #clock: Clock
  readonly #effect: string
  readonly #perSecond: number
  #notBefore = 0

  constructor(facts: Pick<Facts<never>, 'change'>, clock: Clock, effect: string, perSecond: number) {
    this.#facts = facts
    this.#clock = clock
    this.#effect = effect
    this.#perSecond = perSecond
  }

  /** How long there is no use in asking. */
  get waitMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.monotonicMs())
  }

  /** Resolves to how many of the wanted calls may start now. */
  async take(wanted: number): Promise<number> {
    const count = Math.min(wanted, Math.max(1, Math.floor(this.#perSecond / bursts)))
    const forMs = (count * 1_000) / this.#perSecond
    const [revision] = await this.#facts.change(undefined, [
      { name: `pace ${this.#effect}`, from: undefined, value: '', forMs },
    ])
    const waitMs = revision === undefined ? Math.min(forMs, longestWaitMs) * (0.5 + this.#clock.random() / 2) : forMs
    this.#notBefore = this.#clock.monotonicMs() + waitMs
    return revision === undefined ? 0 : count
  }
}
