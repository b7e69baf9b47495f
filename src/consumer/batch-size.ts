/** What a batch that has ended says about its size. */
export interface SizeSample {
  /** How many messages it had at its beginning. */
  readonly size: number
  /** How long it took, until everything was settled. */
  readonly tookMs: number
  /** How much of that was spent on opening, claiming and committing. */
  readonly overheadMs: number
  readonly hadConflict: boolean
}

/** So slowly is forgotten what a batch has lost: a conflict costs as much as many batches, and is cheap if it is rare enough. */
const weight = 1 / 50

/** In batches. However often it collides, more is tried now and then: what collides today may not tomorrow. */
const patience = { first: 128, most: 4_096 }

/**
 * In overheads. One batch instead of two saves one overhead. But it loses about eight times as much as each of the two: it wants twice as
 * many rows, others hold twice as many, and for twice as long. So half the size is better if a batch loses more than four thirds of
 * an overhead, and twice the size is better below a sixth. Not all that is lost grows so fast, hence a quarter.
 */
const lost = { grows: 1 / 4, shrinks: 4 / 3 }

/** How much longer than usual a single message takes by chance. Of the average of many, that is so much less. */
const chance = 1.5

/** How many times as long as usual single messages take if one batch at a time may be faster. */
const crowded = 2.5

/**
 * How many messages a batch of one type may have. Large batches save round trips and commits, but they hold their rows for
 * longer. Both are measured in the same currency: what the beginning and the end of a batch cost, and what batches lose
 * because others hold their rows, be it by waiting or by a conflict after which everything runs again.
 */
export class BatchSize {
  readonly #max: number
  #size: number
  /** What a message takes if it does not wait for others: the time that a quarter of the batches stay below. */
  #messageMs: number | undefined
  /** What a batch takes besides its messages, on average. */
  #overheadMs: number | undefined
  /** What a batch of the present size loses, on average. */
  #lostMs = 0
  #samples = 0
  /** How many of them have lost something: a single one may be chance. */
  #slow = 0
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

  /** Whether messages wait for each other's rows although batches are as small as they can be, or would if any two shared a batch. */
  get isCrowded(): boolean {
    if (this.#size > 1) return false
    return this.#collidedAt === 2 || this.#lostMs > (crowded - 1) * Math.max(leastMs, this.#messageMs ?? 0)
  }

  ended({ size, tookMs, overheadMs, hadConflict }: SizeSample): void {
    if (!hadConflict) this.#learn(Math.max(0, tookMs - overheadMs) / size, overheadMs)
    if (this.#pause > 0) this.#pause--
    // Batches that were begun when others were allowed say nothing about the present size.
    if (size > this.#size || (size < this.#size / 2 && !hadConflict)) return
    // The overhead varies by itself: the disk of the database decides how long a commit takes.
    const usualMs = size * (this.#messageMs ?? 0)
    const callsMs = tookMs - (hadConflict ? (this.#overheadMs ?? 0) : overheadMs)
    const lostMs = callsMs > usualMs * (1 + chance / Math.sqrt(size)) ? callsMs - usualMs : 0
    this.#samples++
    if (lostMs > 0) this.#slow++
    // Until there are many, all weigh the same: otherwise batches would have grown several times before what they lose counts.
    this.#lostMs += (lostMs - this.#lostMs) * Math.max(weight, 1 / this.#samples)
    const overheads = this.#lostMs / Math.max(leastMs, this.#overheadMs ?? overheadMs)
    if (overheads > lost.shrinks && (hadConflict || (this.#slow > 1 && this.#samples > 3))) this.#shrink()
    else if (overheads < lost.grows && this.#samples > 2 + this.#size / 4) this.#grow()
  }

  #learn(messageMs: number, overheadMs: number): void {
    const usual = this.#messageMs ?? messageMs
    this.#messageMs = messageMs < usual ? Math.max(messageMs, usual * 0.9) : Math.min(messageMs, usual * 1.03)
    this.#overheadMs = moved(this.#overheadMs, overheadMs)
  }

  #shrink(): void {
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
    this.#lostMs = 0
    this.#samples = 0
    this.#slow = 0
  }
}

/** What takes less is not worth measuring, and may take no time at all by the clock. */
const leastMs = 0.01

function moved(average: number | undefined, value: number): number {
  return average === undefined ? value : average + (value - average) * weight
}
