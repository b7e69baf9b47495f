/**
 * In milliseconds that batches have waited for their turn. To try more at once costs a few conflicts where batches collide, each about
 * as long as a batch may take: then that is a tenth of what could be saved. However often it leads to conflicts, it is tried now and then.
 */
const patienceMs = { first: 4_000, most: 1_024_000 }

/**
 * How many batches of a type call their handlers at once, if a batch takes about as long as one of its messages: with handlers that
 * interleave, or that take whole batches. Two that run side by side and touch the same rows in another order are a deadlock, so
 * it begins with one. The next one opens its transaction and claims meanwhile, and waits only with its calls. What the
 * first has locked is free as soon as it has committed, which it does without asking for anything else.
 */
export class Turns {
  #limit = 1
  #taken = 0
  readonly #waiting: (() => void)[] = []
  #patienceMs = patienceMs.first
  #waitedMs = 0

  /** How many may call their handlers at once. */
  get limit(): number {
    return this.#limit
  }

  /** Calls `begin` when it is the caller's turn, at once if there is one left. */
  take(begin: () => void): void {
    if (this.#taken >= this.#limit) this.#waiting.push(begin)
    else {
      this.#taken++
      begin()
    }
  }

  /** Gives back a turn. */
  pass(): void {
    this.#taken--
    this.#giveOut()
  }

  /** `waitedMs`: for how long a batch without a conflict has waited for its turn. */
  wentWell(waitedMs: number): void {
    this.#waitedMs += waitedMs
    if (this.#waitedMs < this.#patienceMs) return
    this.#limit *= 2
    this.#waitedMs = 0
    this.#giveOut()
  }

  /** `running`: how many ran at that time. Those that were begun before it was known end one after the other: they are one conflict. */
  collided(running: number): void {
    if (this.#limit === 1) return
    this.#limit = Math.max(1, Math.floor(Math.min(this.#limit, running) / 2))
    this.#patienceMs = Math.min(patienceMs.most, this.#patienceMs * 4)
    this.#waitedMs = 0
  }

  #giveOut(): void {
    while (this.#taken < this.#limit && this.#waiting.length > 0) {
      this.#taken++
      this.#waiting.shift()?.()
    }
  }
}
