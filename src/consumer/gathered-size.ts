/** So many batches in a row must go well before larger ones are tried. */
const patience = { first: 8, most: 4_096 }

/**
 * How large batches are whose messages together take about as long as one: those that interleave, and those of a handler that
 * takes many at once. What such a batch costs is its round trips and its commit, so the larger the better, until something
 * goes wrong in it: then all of its messages run again. So batches grow beyond the usual size only while nothing does.
 */
export class GatheredSize {
  readonly #usual: number
  readonly #most: number
  #size: number
  #wentWell = 0
  #patience = patience.first

  constructor({ usual, most }: { readonly usual: number; readonly most: number }) {
    this.#usual = usual
    this.#most = Math.max(usual, most)
    this.#size = usual
  }

  get limit(): number {
    return this.#size
  }

  /** `hadSetback`: its transaction was rolled back, because of a conflict or because something in it failed. */
  ended({ size, hadSetback }: { readonly size: number; readonly hadSetback: boolean }): void {
    if (hadSetback) this.#shrink()
    // A smaller one says nothing about this size.
    else if (size >= this.#size && ++this.#wentWell >= this.#patience) this.#grow()
  }

  #grow(): void {
    this.#wentWell = 0
    if (this.#size > this.#usual) this.#patience = Math.max(patience.first, this.#patience / 2)
    this.#size = Math.min(this.#most, this.#size * 2)
  }

  /** Each time it is longer until larger ones are tried again, so where things go wrong now and then that seldom costs more than before. */
  #shrink(): void {
    this.#wentWell = 0
    if (this.#size === this.#usual) return
    this.#size = this.#usual
    this.#patience = Math.min(patience.most, this.#patience * 4)
  }
}
