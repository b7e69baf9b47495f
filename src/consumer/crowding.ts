/** Running totals of a consumer. */
export interface Progress {
  /** Messages handled, of all types. */
  readonly messages: number
  /** For how long at least one worker was busy. */
  readonly activeMs: number
}

const window = { batches: 8, leastMs: 30, mostMs: 250 }

/** What is tried must be clearly faster: it is given up only after many batches. */
const clearly = 0.85

const patienceOf = { first: 4, most: 256 }

/**
 * Whether batches of a type run one at a time. Where all messages want the same few rows, they wait for each other however small
 * the batches are. Then one large batch after the other, which waits for nobody, may be faster, or it may not: that depends on
 * how far away the database is, so both are tried, and what handles more messages in the same time stays.
 */
export class Crowding {
  #isOneAtATime = false
  #isTrial = false
  /** What a message cost just before the trial. */
  #besideMs = 0
  #from: Progress | undefined
  #batches = 0
  #patience = patienceOf.first
  /** How many windows pass before the next trial. */
  #pause = 0

  get isOneAtATime(): boolean {
    return this.#isOneAtATime
  }

  /** `isCrowded`: single messages wait for each other, and this one has not collided. */
  ended(isCrowded: boolean, now: Progress): void {
    this.#from ??= now
    // Larger batches that have just collided would make anything else look fast.
    if (!isCrowded && !this.#isTrial && !this.#isOneAtATime) {
      this.#from = now
      this.#batches = 0
      return
    }
    this.#batches++
    const activeMs = now.activeMs - this.#from.activeMs
    if ((this.#batches < window.batches || activeMs < window.leastMs) && activeMs < window.mostMs) return
    const costMs = activeMs / Math.max(1, now.messages - this.#from.messages)
    this.#from = now
    this.#batches = 0
    if (this.#isTrial) this.#judge(costMs)
    else if (this.#pause > 0) this.#pause--
    else this.#try(costMs)
  }

  #try(costMs: number): void {
    this.#besideMs = costMs
    this.#isTrial = true
    this.#isOneAtATime = !this.#isOneAtATime
  }

  #judge(costMs: number): void {
    this.#isTrial = false
    const isBetter = costMs < this.#besideMs * clearly
    this.#patience = isBetter ? patienceOf.first * 8 : Math.min(patienceOf.most, this.#patience * 4)
    this.#pause = this.#patience
    if (!isBetter) this.#isOneAtATime = !this.#isOneAtATime
  }
}
