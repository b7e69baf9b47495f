import { setTimeout as pause } from 'node:timers/promises'
import type { Kill } from './plan.ts'

/** Carries out the kills of a plan, one at a time, by how far the work has come. */
export class Killer {
  readonly #kills: readonly Kill[]
  readonly #strike: (victim: number) => Promise<boolean>
  #next = 0
  #isStriking = false

  /** `strike` resolves to false when there was nobody to kill; then it is tried again. */
  constructor(kills: readonly Kill[], strike: (victim: number) => Promise<boolean>) {
    this.#kills = kills
    this.#strike = strike
  }

  get isDone(): boolean {
    return this.#next === this.#kills.length
  }

  /** Begins the next kill if it is due. */
  look(consumed: number, signal: AbortSignal): void {
    const kill = this.#kills[this.#next]
    if (this.#isStriking || kill === undefined || consumed < kill.atConsumed) return
    this.#isStriking = true
    void this.#carryOut(kill, signal).finally(() => {
      this.#isStriking = false
    })
  }

  async #carryOut({ delayMs, victim }: Kill, signal: AbortSignal): Promise<void> {
    await pause(delayMs, undefined, { signal }).catch(() => {})
    if (!signal.aborted && (await this.#strike(victim))) this.#next++
  }
}
