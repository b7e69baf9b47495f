/** In batches. However often it leads to conflicts, more run at once now and then: what collides today may not tomorrow. */
const patienceOf = { first: 8, most: 8_192 }

/**
 * How many batches of a type run at once, if a batch takes about as long as one of its messages: with handlers that interleave,
 * or that take whole batches. Where those collide, one large batch after the other is faster than many small ones at once.
 * They start with two: one is prepared while the database works on the other.
 */
export class Turns {
  #limit = 2
  #patience = patienceOf.first
  /** How many batches must go well before more may run at once. */
  #left = patienceOf.first

  get limit(): number {
    return this.#limit
  }

  wentWell(): void {
    if (--this.#left > 0) return
    this.#limit *= 2
    this.#left = this.#patience
  }

  /** `running`: how many ran at that time. Those that were begun before it was known end one after the other: they are one conflict. */
  collided(running: number): void {
    if (this.#limit === 1) return
    this.#limit = Math.max(1, Math.floor(Math.min(this.#limit, running) / 2))
    this.#patience = Math.min(patienceOf.most, this.#patience * 4)
    this.#left = this.#patience
  }
}
