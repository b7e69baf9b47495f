export interface RungsOptions<Consumer> {
  /** Begins a consumer. */
  begin(prefetch: number): Promise<Consumer>
  end(consumer: Consumer): Promise<void>
  /** How much of what a consumer has brought is not settled. */
  unsettled(consumer: Consumer): number
}

const leastGrowth = 1 / 4

/**
 * Consumers of one queue on one channel. A prefetch cannot be changed once a consumer has begun, but those of several add
 * up: more are begun when more is wanted, the last are ended when less is. What they have brought stays where it is, and
 * takes the room of those that would be begun.
 */
export class Rungs<Consumer> {
  readonly #options: RungsOptions<Consumer>
  readonly #rungs: { readonly consumer: Consumer; readonly prefetch: number }[] = []
  /** Ended, with something that is not settled. */
  #ended: readonly Consumer[] = []
  #following: Promise<void> | undefined
  #wanted = 0

  constructor(options: RungsOptions<Consumer>) {
    this.#options = options
  }

  get prefetch(): number {
    return this.#rungs.reduce((sum, { prefetch }) => sum + prefetch, 0)
  }

  /** What is wanted by now is followed to the end, also when that changes meanwhile. */
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
   * Grows in large steps, because each is two round trips, but it always grows: all that has come may stand still, and
   * what is wanted beyond it is for the others. Only for the room of what ended consumers have left it waits.
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
