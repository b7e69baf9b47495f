import type { Delivery } from '../contracts/index.ts'

export interface BatchOptions {
  /** The largest batch. */
  readonly max: number
  /** Batches are sized so that each should take about this long. */
  readonly budgetMs: number
}

interface Pace {
  /** Moving average of the total time that one message of this type takes. */
  messageMs: number
  /** If false, the average is only a guess. */
  isMeasured: boolean
  /** Halved by a conflict, lowered more by the next ones, and raised a little by batches without one, after some patience. */
  limit: number
  /** How many messages were handled since the last conflict. */
  calm: number
  /** How many must be handled without a conflict before batches grow again. */
  patience: number
}

/**
 * A conflict costs as long as a lock is waited for, which is hundreds of messages. A type that collides again whenever its
 * batches grow must not try it all the time: each conflict doubles the patience, and a long calm ends it.
 */
const patienceOf = { first: 128, most: 8_192, forgottenAfter: 50_000 }

const typesRemembered = 1_000
/** The batch size for a type of which no time has been measured yet. */
const unknownSize = 8

/** A batch has a fixed cost: what would take less than this share of the budget is not spread over idle workers. */
const worthABatch = 1 / 4

/**
 * Decides how many of the waiting deliveries go into the next batch. It never waits for more: batches grow under load.
 * While handlers are slow, the waiting deliveries are spread over all idle workers; while they are fast, they are
 * gathered.
 */
export class AdaptiveBatch {
  readonly #options: BatchOptions
  readonly #paces = new Map<string, Pace>()
  /** Moving average of the time one message takes, whatever its type. Unknown at first. */
  #messageMs: number | undefined

  constructor(options: BatchOptions) {
    this.#options = options
  }

  /**
   * Returns a function that says for one candidate after the other whether it goes into the batch. `idle` includes the
   * worker that takes the batch.
   */
  chooser(candidates: Iterable<Delivery>, idle: number): (delivery: Delivery) => boolean {
    const { max } = this.#options
    const shareMs = this.#share(candidates, idle)
    const counts = new Map<string, number>()
    let expectedMs = 0
    let size = 0
    let isMeasured = false
    return ({ message }) => {
      const type = message.type ?? ''
      const pace = this.#pace(type)
      const count = (counts.get(type) ?? 0) + 1
      if (size >= max || (size > 0 && (count > pace.limit || expectedMs + pace.messageMs > shareMs))) return false
      // Its speed is unknown, so messages with a known speed must not wait for it.
      if (size > 0 && pace.isMeasured !== isMeasured) return false
      isMeasured = pace.isMeasured
      counts.set(type, count)
      expectedMs += pace.messageMs
      size++
      return true
    }
  }

  /** Learns from what was handled and how long it took. */
  learn(handled: readonly Delivery[], tookMs: number, conflicts: number): void {
    if (handled.length === 0) return
    const messageMs = tookMs / handled.length
    this.#messageMs ??= messageMs
    this.#messageMs += (messageMs - this.#messageMs) * Math.min(1 / 4, handled.length / 100)
    for (const type of new Set(handled.map((delivery) => delivery.message.type ?? ''))) {
      const pace = this.#pace(type)
      pace.messageMs = pace.isMeasured ? pace.messageMs + (messageMs - pace.messageMs) / 4 : messageMs
      pace.isMeasured = true
      if (conflicts > 0) {
        const { first, most, forgottenAfter } = patienceOf
        const isAgain = pace.patience > 0 && pace.calm <= forgottenAfter
        pace.patience = isAgain ? Math.min(most, pace.patience * 2) : first
        pace.calm = 0
        pace.limit = Math.max(1, Math.floor(Math.min(pace.limit, handled.length) / (isAgain ? 8 : 2)))
      } else {
        pace.calm += handled.length
        if (pace.calm > pace.patience)
          pace.limit = Math.min(this.#options.max, pace.limit + Math.max(1, pace.limit / 8))
      }
    }
  }

  get isMeasured(): boolean {
    return this.#messageMs !== undefined
  }

  /** How many messages one worker handles within the budget of a batch. */
  get usualSize(): number {
    const { max, budgetMs } = this.#options
    const size = this.#messageMs === undefined ? unknownSize : budgetMs / Math.max(this.#messageMs, 0.001)
    return Math.max(1, Math.min(max, Math.floor(size)))
  }

  #share(candidates: Iterable<Delivery>, idle: number): number {
    const { budgetMs } = this.#options
    if (idle <= 1) return budgetMs
    let expectedMs = 0
    for (const { message } of candidates) {
      expectedMs += this.#pace(message.type ?? '').messageMs
      if (expectedMs >= budgetMs * idle) return budgetMs
    }
    return Math.max(budgetMs * worthABatch, expectedMs / idle)
  }

  /** A new type starts with small batches until its time is known: a slow handler must not hold locks for seconds. */
  #pace(type: string): Pace {
    let pace = this.#paces.get(type)
    if (pace === undefined) {
      // Types come from outside: a sender that invents new ones must not fill the memory.
      if (this.#paces.size >= typesRemembered) this.#paces.clear()
      const { max, budgetMs } = this.#options
      pace = { messageMs: budgetMs / unknownSize, isMeasured: false, limit: max, calm: 0, patience: 0 }
      this.#paces.set(type, pace)
    }
    return pace
  }
}
