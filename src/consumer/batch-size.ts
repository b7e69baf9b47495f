/** What a batch that has ended says about its size. */
export interface SizeSample {
  /** How many messages it had at its beginning. */
  readonly size: number
  /** How long each of them took on average, without the overhead of the batch. */
  readonly messageMs: number
  readonly hadConflict: boolean
}

/** One slow batch may be chance. */
const weight = 1 / 6

/** In batches. However often it collides, more is tried now and then: what collides today may not tomorrow. */
const patience = { first: 64, most: 4_096 }

/**
 * How many times as long as usual messages take if their rows are held by others. Below the first, batches grow; above the second,
 * they shrink.
 */
const slow = { grows: 1.6, shrinks: 2.5 }

/** What takes less is not worth measuring, and may take no time at all by the clock. */
const leastMs = 0.01

/**
 * How many messages a batch of one type may have. Large batches save round trips and commits, but they hold their rows for
 * longer. So a batch doubles while messages take no longer than usual, and halves when it collides with others: when the
 * database reports a conflict, or when messages take several times as long as they do when nobody holds their rows.
 */
export class BatchSize {
  readonly #max: number
  #size: number
  /** The time that a quarter of the batches stay below: what a message takes if it does not wait for others. */
  #usualMs: number | undefined
  /** How many times as long as usual messages take at the present size. */
  #slowness = 1
  #samples = 0
  /** Where batches collided. They get there again only after a pause. */
  #collidedAt = Number.POSITIVE_INFINITY
  #patience = patience.first
  #pause = 0

  constructor({ max, start }: { readonly max: number; readonly start: number }) {
    this.#max = max
    this.#size = Math.min(max, start)
  }

  get limit(): number {
    return this.#size
  }

  /** Whether messages wait for each other's rows although batches are as small as they can be. */
  get isCrowded(): boolean {
    return this.#size === 1 && this.#slowness > slow.shrinks
  }

  ended({ size, messageMs, hadConflict }: SizeSample): void {
    this.#learn(messageMs)
    if (this.#pause > 0) this.#pause--
    // Batches that were begun when others were allowed say nothing about the present size.
    if (size > this.#size || (size < this.#size / 2 && !hadConflict)) return
    const slowness = hadConflict
      ? 2 * slow.shrinks
      : Math.min(2 * slow.shrinks, messageMs / Math.max(leastMs, this.#usualMs as number))
    this.#slowness += (slowness - this.#slowness) * weight
    this.#samples++
    if (hadConflict || (this.#slowness > slow.shrinks && this.#samples > 3)) this.#collided()
    else if (this.#slowness < slow.grows && this.#samples > 2) this.#grow()
  }

  #learn(messageMs: number): void {
    const usual = this.#usualMs ?? messageMs
    this.#usualMs = messageMs < usual ? Math.max(messageMs, usual * 0.9) : Math.min(messageMs, usual * 1.03)
  }

  #collided(): void {
    if (this.#size === 1) return
    this.#collidedAt = this.#size
    this.#pause = this.#patience
    this.#patience = Math.min(patience.most, this.#patience * 2)
    this.#change(Math.floor(this.#size / 2))
  }

  #grow(): void {
    if (this.#size === this.#max) return
    const next = Math.min(this.#max, this.#size * 2)
    if (next >= this.#collidedAt && this.#pause > 0) return
    this.#change(next)
  }

  #change(size: number): void {
    this.#size = size
    this.#slowness = 1
    this.#samples = 0
  }
}
