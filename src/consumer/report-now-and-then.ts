import type { Clock } from '../contracts/index.ts'

const everyMs = 600_000

/** Limits reports: the same trouble is reported every ten minutes, other trouble immediately. */
export class ReportNowAndThen {
  readonly #clock: Clock
  #reportedAt: number | undefined
  #reported = ''

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `trouble` is keyed by the names of what is in trouble. The caller reports if this returns true. */
  isDue(trouble: ReadonlyMap<string, unknown>): boolean {
    if (trouble.size === 0) return false
    const now = this.#clock.monotonicMs()
    const names = [...trouble.keys()].sort().join('\n')
    if (names === this.#reported && this.#reportedAt !== undefined && now - this.#reportedAt < everyMs) return false
    this.#reported = names
    this.#reportedAt = now
    return true
  }
}
