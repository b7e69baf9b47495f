/** In batches. However often it leads to conflicts, some run at once now and then: what collides today may not tomorrow. */
const patienceOf = { first: 8, most: 8_192 }

/** The turn of one batch. */
export interface Turn {
  /** The batch goes on, but the next may begin. */
  giveUp(): void
  end(): void
}

/**
 * Whether batches of a type take turns. A batch of handlers that interleave takes about as long as one of its messages, so
 * where such batches collide, one large batch after the other is faster than many small ones at once. They take turns at
 * first, and again after each conflict, ever longer.
 */
export class Turns {
  #isOneAtATime = true
  readonly #running = new Set<Turn>()
  #patience = patienceOf.first
  /** How many batches take turns before some may run at once. */
  #left = patienceOf.first

  get mayBegin(): boolean {
    return !this.#isOneAtATime || this.#running.size === 0
  }

  begin(): Turn {
    const turn: Turn = {
      giveUp: () => void this.#running.delete(turn),
      end: () => {
        this.#running.delete(turn)
        if (--this.#left <= 0) this.#isOneAtATime = false
      },
    }
    this.#running.add(turn)
    return turn
  }

  /** Those that were begun before it was known end one after the other: they are one conflict. */
  collided(): void {
    if (this.#isOneAtATime) return
    this.#isOneAtATime = true
    this.#patience = Math.min(patienceOf.most, this.#patience * 4)
    this.#left = this.#patience
  }
}
