import type { Clock } from '../contracts/index.ts'

interface Watched {
  readonly begunAt: number
  isOverdue: boolean
  onOverdue(): void
}

/**
 * The batches that take far longer than a batch should. They are not large, they wait for something: a handler for another
 * service, or for a row. So they must not keep others from beginning, however few should run at once.
 */
export class Overdue {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'timer'>
  readonly #longestMs: number
  /** Those that run and are not overdue yet, the oldest first. */
  readonly #watched = new Set<Watched>()
  /** One for all of them, because nearly every batch ends long before. */
  #timer: { cancel(): void } | undefined
  #batches = 0

  constructor(clock: Pick<Clock, 'monotonicMs' | 'timer'>, longestMs: number) {
    this.#clock = clock
    this.#longestMs = longestMs
  }

  /** How many there are. */
  get batches(): number {
    return this.#batches
  }

  /** A batch begins. Call the returned function when it has ended. */
  watch(onOverdue: () => void): () => void {
    const watched: Watched = { begunAt: this.#clock.monotonicMs(), isOverdue: false, onOverdue }
    this.#watched.add(watched)
    this.#lookLater()
    return () => {
      this.#watched.delete(watched)
      if (watched.isOverdue) this.#batches--
    }
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #lookLater(): void {
    const [oldest] = this.#watched
    if (this.#timer !== undefined || oldest === undefined) return
    const leftMs = oldest.begunAt + this.#longestMs - this.#clock.monotonicMs()
    this.#timer = this.#clock.timer(Math.max(1, leftMs), () => {
      this.#timer = undefined
      this.#look()
      this.#lookLater()
    })
  }

  #look(): void {
    const before = this.#clock.monotonicMs() - this.#longestMs
    for (const watched of this.#watched) {
      if (watched.begunAt > before) return
      this.#watched.delete(watched)
      watched.isOverdue = true
      this.#batches++
      watched.onOverdue()
    }
  }
}
