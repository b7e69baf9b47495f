import type { Delivery } from '../contracts/index.ts'
import { takingOrder } from './taking-order.ts'

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

/** Decides how many of the waiting deliveries go into the next batch. It never waits for more: batches grow under load. */
export class AdaptiveBatch {
  readonly #options: BatchOptions
  readonly #paces = new Map<string, Pace>()

  constructor(options: BatchOptions) {
    this.#options = options
  }

  /** Removes the next batch from the queue: the oldest, and what shares its key. */
  take(queue: Delivery[]): Delivery[] {
    if (this.#fitting(queue) === queue.length) return queue.splice(0)
    const places = takingOrder(queue)
    const inOrder = places.map((place) => queue[place] as Delivery)
    const size = this.#fitting(inOrder)
    const isTaken = new Uint8Array(queue.length)
    for (const place of places.slice(0, size)) isTaken[place] = 1
    const rest = queue.filter((_, place) => isTaken[place] === 0)
    queue.splice(0, queue.length, ...rest)
    return inOrder.slice(0, size)
  }

  /** How many of them, from the front, make a batch. */
  #fitting(queue: readonly Delivery[]): number {
    const { max, budgetMs } = this.#options
    const counts = new Map<string, number>()
    let expectedMs = 0
    let size = 0
    while (size < queue.length && size < max) {
      const type = (queue[size] as Delivery).message.type ?? ''
      const pace = this.#pace(type)
      const count = (counts.get(type) ?? 0) + 1
      if (size > 0 && (count > pace.limit || expectedMs + pace.messageMs > budgetMs)) break
      counts.set(type, count)
      expectedMs += pace.messageMs
      size++
    }
    return size
  }

  learn(batch: readonly Delivery[], tookMs: number, conflicts: number): void {
    const messageMs = tookMs / batch.length
    for (const type of new Set(batch.map((delivery) => delivery.message.type ?? ''))) {
      const pace = this.#pace(type)
      pace.messageMs = pace.isMeasured ? pace.messageMs + (messageMs - pace.messageMs) / 4 : messageMs
      pace.isMeasured = true
      if (conflicts > 0) pace.limit = Math.max(1, Math.floor(Math.min(pace.limit, batch.length) / 2))
      else pace.limit = Math.min(this.#options.max, pace.limit + Math.max(1, pace.limit / 8))
    }
  }

  /** A new type starts with small batches until its time is known: a slow handler must not hold locks for seconds. */
  #pace(type: string): Pace {
    let pace = this.#paces.get(type)
    if (pace === undefined) {
      // Types come from outside: somebody who makes up new ones must not fill the memory.
      if (this.#paces.size >= typesRemembered) this.#paces.clear()
      pace = { messageMs: this.#options.budgetMs / 8, isMeasured: false, limit: this.#options.max }
      this.#paces.set(type, pace)
    }
    return pace
  }
}
