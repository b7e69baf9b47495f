import type { Delivery } from '../contracts/index.ts'

export interface BatchOptions {
  /** The largest batch. */
  readonly max: number
  /** A batch is made so large that it should take about this long. */
  readonly budgetMs: number
}

interface Pace {
  /** Moving average of the time one message of this type takes, everything included. */
  messageMs: number
  /** False: that is only a guess. */
  isMeasured: boolean
  /** Halved by a conflict, grown back a little by every batch that went well. */
  limit: number
}

const typesRemembered = 1_000
/** So many messages of a type make a batch while nobody knows how slow they are. */
const unknownSize = 8

/** A batch costs something by itself: what would take less than this share of its budget is not spread over idle workers. */
const worthABatch = 1 / 4

/**
 * Decides how many of the waiting deliveries go into the next batch. It never waits for more: batches grow under load.
 * While handlers are slow, what waits is spread over everybody who is idle; while they are quick, it is gathered.
 */
export class AdaptiveBatch {
  readonly #options: BatchOptions
  readonly #paces = new Map<string, Pace>()
  /** Moving average of the time one message takes, whatever its type; not known at first. */
  #messageMs: number | undefined

  constructor(options: BatchOptions) {
    this.#options = options
  }

  /** Asked for one candidate after the other: whether it goes into the batch. `idle` counts whoever takes it, too. */
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
      // Nobody knows how slow it is: those of whom that is known must not wait for it.
      if (size > 0 && pace.isMeasured !== isMeasured) return false
      isMeasured = pace.isMeasured
      counts.set(type, count)
      expectedMs += pace.messageMs
      size++
      return true
    }
  }

  /** What was handled, and how long that took. */
  learn(handled: readonly Delivery[], tookMs: number, conflicts: number): void {
    if (handled.length === 0) return
    const messageMs = tookMs / handled.length
    this.#messageMs ??= messageMs
    this.#messageMs += (messageMs - this.#messageMs) * Math.min(1 / 4, handled.length / 100)
    for (const type of new Set(handled.map((delivery) => delivery.message.type ?? ''))) {
      const pace = this.#pace(type)
      pace.messageMs = pace.isMeasured ? pace.messageMs + (messageMs - pace.messageMs) / 4 : messageMs
      pace.isMeasured = true
      if (conflicts > 0) pace.limit = Math.max(1, Math.floor(Math.min(pace.limit, handled.length) / 2))
      else pace.limit = Math.min(this.#options.max, pace.limit + Math.max(1, pace.limit / 8))
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
      // Types come from outside: somebody who makes up new ones must not fill the memory.
      if (this.#paces.size >= typesRemembered) this.#paces.clear()
      pace = { messageMs: this.#options.budgetMs / unknownSize, isMeasured: false, limit: this.#options.max }
      this.#paces.set(type, pace)
    }
    return pace
  }
}
