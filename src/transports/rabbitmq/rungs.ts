interface Rung {
  readonly tag: string
  readonly prefetch: number
}

export interface RungsOptions {
  /** Begins a consumer, and answers its tag. */
  begin(prefetch: number): Promise<string>
  end(tag: string): Promise<void>
}

const leastGrowth = 1.25

/**
 * Consumers of one queue on one channel. A prefetch cannot be changed once a consumer has begun, but those of several add
 * up: more are begun when more is wanted, the last are ended when less is. What they have brought stays where it is.
 */
export class Rungs {
  readonly #options: RungsOptions
  readonly #rungs: Rung[] = []
  #adjusting: Promise<void> | undefined
  #wanted = 0

  constructor(options: RungsOptions) {
    this.#options = options
  }

  get prefetch(): number {
    return this.#rungs.reduce((sum, { prefetch }) => sum + prefetch, 0)
  }

  /** What is wanted by now is followed to the end, also when that changes meanwhile. */
  adjust(wanted: number, most: number): Promise<void> {
    this.#wanted = Math.max(1, Math.floor(Math.min(wanted, most)))
    this.#adjusting ??= this.#follow(most).finally(() => {
      this.#adjusting = undefined
    })
    return this.#adjusting
  }

  async #follow(most: number): Promise<void> {
    for (let wanted = 0; wanted !== this.#wanted; ) {
      wanted = this.#wanted
      await this.#adjust(wanted, most)
    }
  }

  /**
   * Grows in large steps, because each is two round trips, but it always grows: all that has come may stand still, and
   * what is wanted beyond it is for the others.
   */
  async #adjust(wanted: number, most: number): Promise<void> {
    const { prefetch } = this
    if (wanted > prefetch) {
      const step = Math.min(most, Math.max(wanted, Math.ceil(prefetch * leastGrowth))) - prefetch
      this.#rungs.push({ tag: await this.#options.begin(step), prefetch: step })
    }
    while (this.#rungs.length > 1 && this.prefetch - (this.#rungs.at(-1) as Rung).prefetch >= wanted) {
      await this.#options.end((this.#rungs.pop() as Rung).tag)
    }
  }
}
