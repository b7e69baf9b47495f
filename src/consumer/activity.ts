import type { Clock } from '../contracts/index.ts'
import type { Progress } from './crowding.ts'

/** How much the workers of a consumer have done, and in how much time. Time in which none of them was busy does not count. */
export class Activity {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #busy = 0
  #activeSince = 0
  #activeMs = 0
  #messages = 0

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** How many workers are busy. */
  get busy(): number {
    return this.#busy
  }

  begin(): void {
    if (this.#busy++ === 0) this.#activeSince = this.#clock.monotonicMs()
  }

  end(): void {
    if (--this.#busy === 0) this.#activeMs += this.#clock.monotonicMs() - this.#activeSince
  }

  handled(messages: number): Progress {
    this.#messages += messages
    const runningMs = this.#busy === 0 ? 0 : this.#clock.monotonicMs() - this.#activeSince
    return { messages: this.#messages, activeMs: this.#activeMs + runningMs }
  }
}
