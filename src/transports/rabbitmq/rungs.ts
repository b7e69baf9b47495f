export interface RungsOptions<Consumer> {
  begin(prefetch: number): Promise<Consumer>
  end(consumer: Consumer): Promise<void>
  /** How many of the consumer's deliveries are unsettled. */
  unsettled(consumer: Consumer): number
}

const leastGrowth = 1 / 4

/**
 * The consumers of one queue on one channel. The prefetch of a consumer cannot be changed once it has begun, but those of
 * several add up: more consumers are begun when more is wanted, and the last ones are ended when less is. Unsettled deliveries
 * of ended consumers still count, and take the room of new ones.
 */
export class Rungs<Consumer> {
  readonly #options: RungsOptions<Consumer>
  readonly #rungs: { readonly consumer: Consumer; readonly prefetch: number }[] = []
  /** Ended, but with unsettled deliveries. */
  #ended: readonly Consumer[] = []
  #following: Promise<void> | undefined
  #wanted = 0

  constructor(options: RungsOptions<Consumer>) {
    this.#options = options
  }

  get prefetch(): number {
    return this.#rungs.reduce((sum, { prefetch }) => sum + prefetch, 0)
  }

  /** Follows what is wanted until it is reached, even if that changes meanwhile. */
  adjust(wanted: number, most: number): Promise<void> {
    this.#wanted = Math.max(1, Math.floor(Math.min(wanted, most)))
    this.#following ??= this.#follow(most)
    return this.#following
  }

  async #follow(most: number): Promise<void> {
    try {
      for (let wanted = 0; wanted !== this.#wanted; ) {
        wanted = this.#wanted
        await this.#adjust(wanted, most)
      }
    } finally {
      this.#following = undefined
    }
  }

  /**
   * Grows in large steps, because each costs two round trips. But it always grows: everything delivered so far may be stuck,
   * and what is wanted beyond it is for other messages. It waits only for room that ended consumers still take.
   */
  async #adjust(wanted: number, most: number): Promise<void> {
    const { prefetch } = this
    const left = this.#left()
    const least = Math.ceil(prefetch * leastGrowth)
    const step = Math.min(most - left, Math.max(wanted - left, prefetch + least)) - prefetch
    if (wanted > prefetch + left && (step >= least || left === 0))
      this.#rungs.push({ consumer: await this.#options.begin(step), prefetch: step })
    while (this.#rungs.length > 1 && this.prefetch - (this.#rungs.at(-1)?.prefetch ?? 0) + left >= wanted) {
      const { consumer } = this.#rungs.pop() as { readonly consumer: Consumer }
      this.#ended = [...this.#ended, consumer]
      await this.#options.end(consumer)
    }
  }

  #left(): number {
    const counts = this.#ended.map((consumer) => this.#options.unsettled(consumer))
    this.#ended = this.#ended.filter((_, index) => counts[index] !== 0)
    return counts.reduce((sum, count) => sum + count, 0)
  }
}
