import type { Appetite } from '../contracts/index.ts'

/** Notifies transports when more messages can be taken than before. */
export class GrowingAppetite implements Appetite {
  readonly now: () => number
  readonly #wakes = new Set<() => void>()
  #last = 0

  constructor(now: () => number) {
    this.now = now
  }

  onGrown(wake: () => void): () => void {
    this.#wakes.add(wake)
    return () => void this.#wakes.delete(wake)
  }

  /** Called when something that the appetite depends on has changed. */
  look(): void {
    const now = this.now()
    const hasGrown = now > this.#last
    this.#last = now
    if (hasGrown) for (const wake of [...this.#wakes]) wake()
  }
}
