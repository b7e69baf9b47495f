import { SimProcess } from './process.ts'
import type { Scheduler } from './scheduler.ts'

export interface HostsParts {
  readonly scheduler: Scheduler
  /** How wrong the clock of each is; there are as many processes. */
  readonly skewMs: readonly number[]
  /** Starts the program of a process. */
  boot(process: SimProcess, index: number): void
}

/** The processes of a world. Whichever ends is started again after a while. */
export class Hosts {
  readonly #parts: HostsParts
  readonly #processes: SimProcess[] = []
  /** None is started before this. */
  #awayUntil = 0
  #over = false
  deaths = 0

  constructor(parts: HostsParts) {
    this.#parts = parts
  }

  start(): void {
    for (const index of this.#parts.skewMs.keys()) this.#boot(index, 0)
  }

  get areFrozen(): boolean {
    return this.#processes.some(({ isPaused, isAlive }) => isPaused && isAlive)
  }

  isAlive(index: number): boolean {
    return this.#processes[index]?.isAlive === true
  }

  /** Something befalls one of them, whichever. */
  strike(kind: 'kill' | 'freeze', ms: number): void {
    const victim = this.#processes[this.#parts.scheduler.random.below(this.#processes.length)]
    if (kind === 'kill') victim?.die()
    else victim?.pause(ms)
  }

  /** All of them are down for so long. */
  shutDown(ms: number): void {
    this.#awayUntil = this.#parts.scheduler.now + ms
    for (const process of this.#processes) process.die()
  }

  end(): void {
    this.#over = true
    for (const process of this.#processes) process.die()
  }

  #boot(index: number, generation: number): void {
    const { scheduler, skewMs, boot } = this.#parts
    const process = new SimProcess(`p${index}.${generation}`, scheduler, skewMs[index] ?? 0)
    this.#processes[index] = process
    process.onEnd(() => {
      if (this.#over) return
      this.deaths++
      const at = Math.max(this.#awayUntil, scheduler.now) + scheduler.random.between(100, 3_000)
      scheduler.after(at - scheduler.now, () => this.#boot(index, generation + 1))
    })
    boot(process, index)
  }
}
