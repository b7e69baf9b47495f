interface Rung {
  readonly tag: string
  readonly prefetch: number
}

export interface RungsOptions {
  /** Begins a consumer, and answers its tag. */
  begin(prefetch: number): Promise<string>
  end(tag: string): Promise<void>
}

/**
 * Consumers of one queue on one channel. A prefetch cannot be changed once a consumer has begun, but those of several add
 * up: more are begun when more is wanted, the last are ended when less is. What they have brought stays where it is.
 */
export class Rungs {
  readonly #options: RungsOptions
  readonly #rungs: Rung[] = []
  #adjusting: Promise<void> | undefined

  constructor(options: RungsOptions) {
    this.#options = options
  }

  get prefetch(): number {
    return this.#rungs.reduce((sum, { prefetch }) => sum + prefetch, 0)
  }

  /** Follows in large steps: each is two round trips. */
  adjust(wanted: number, most: number): Promise<void> {
    this.#adjusting ??= this.#adjust(Math.max(1, Math.floor(Math.min(wanted, most))), most).finally(() => {
      this.#adjusting = undefined
    })
    return this.#adjusting
  }

  async #adjust(wanted: number, most: number): Promise<void> {
    const { prefetch } = this
    if (wanted >= prefetch * 2 || (wanted === most && wanted > prefetch)) {
      const tag = await this.#options.begin(wanted - prefetch)
      this.#rungs.push({ tag, prefetch: wanted - prefetch })
    }
    while (this.#rungs.length > 1 && this.prefetch - (this.#rungs.at(-1) as Rung).prefetch >= wanted) {
      await this.#options.end((this.#rungs.pop() as Rung).tag)
    }
  }
}
