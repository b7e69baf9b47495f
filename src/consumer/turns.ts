/** In batches. However often it leads to conflicts, some run at once now and then: what collides today may not tomorrow. */
const patienceOf = { first: 8, most: 8_192 }

/**
 * Whether batches of a type take turns. A batch of handlers that interleave takes about as long as one of its messages, so
 * where such batches collide, one large batch after the other is faster than many small ones at once. They take turns at
 * first, and again after each conflict, ever longer.
 */
export class Turns {
  #isOneAtATime = true
  #running = 0
  #patience = patienceOf.first
  /** How many batches take turns before some may run at once. */
  #left = patienceOf.first

  get mayBegin(): boolean {
    return !this.#isOneAtATime || this.#running === 0
  }

  begun(): void {
    this.#running++
  }

  ended(): void {
    this.#running--
    if (--this.#left <= 0) this.#isOneAtATime = false
  }

  /** Those that were begun before it was known end one after the other: they are one conflict. */
  collided(): void {
    if (this.#isOneAtATime) return
    this.#isOneAtATime = true
    this.#patience = Math.min(patienceOf.most, this.#patience * 4)
    this.#left = this.#patience
  }
}
