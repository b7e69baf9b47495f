import type { Clock } from '../../src/contracts/index.ts'
import type { Owner, Scheduler } from './scheduler.ts'
import { worldBegins } from './timed-ids.ts'

/** One simulated operating-system process: it can die at any moment, or be frozen and wake up as a zombie. */
export class SimProcess implements Owner {
  readonly name: string
  readonly clock: Clock
  readonly #scheduler: Scheduler
  readonly #onDeath: (() => void)[] = []
  readonly #onEnd: (() => void)[] = []
  #backlog: (() => void)[] = []
  #alive = true
  #paused = false

  constructor(name: string, scheduler: Scheduler, skewMs: number) {
    this.name = name
    this.#scheduler = scheduler
    this.clock = simClock(this, scheduler, skewMs)
  }

  get isAlive(): boolean {
    return this.#alive
  }

  get isPaused(): boolean {
    return this.#paused
  }

  /** What others notice of its death: closed sockets. */
  onDeath(callback: () => void): void {
    this.#onDeath.push(callback)
  }

  /** Its supervisor notices either end. */
  onEnd(callback: () => void): void {
    this.#onEnd.push(callback)
  }

  die(): void {
    if (!this.#alive) return
    this.#scheduler.note(this.name, 'DIES')
    this.#end()
    for (const callback of this.#onDeath) callback()
  }

  /** The host is gone: nobody closes its connections, so the servers notice only by their timeouts. */
  vanish(): void {
    if (!this.#alive) return
    this.#scheduler.note(this.name, 'VANISHES')
    this.#end()
  }

  pause(ms: number): void {
    if (!this.#alive || this.#paused) return
    this.#paused = true
    this.#scheduler.note(this.name, `FREEZES for ${ms} ms`)
    this.#scheduler.after(ms, () => this.#resume())
  }

  whenResumed(callback: () => void): void {
    this.#backlog.push(callback)
  }

  #end(): void {
    this.#alive = false
    this.#backlog = []
    for (const callback of this.#onEnd) callback()
  }

  #resume(): void {
    if (!this.#alive) return
    this.#paused = false
    this.#scheduler.note(this.name, 'WAKES UP')
    const backlog = this.#backlog
    this.#backlog = []
    // Each as an event of its own: promise work runs in between, as it would.
    for (const callback of backlog) this.#scheduler.after(0, callback, this)
  }
}

function simClock(owner: SimProcess, scheduler: Scheduler, skewMs: number): Clock {
  const random = scheduler.random.fork()
  return {
    now: () => new Date(worldBegins + scheduler.now + skewMs),
    monotonicMs: () => scheduler.now,
    random: () => random.next(),
    timer: (ms, callback) => scheduler.after(ms, callback, owner),
    sleep(ms, signal) {
      if (signal?.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const timer = scheduler.after(ms, resolve, owner)
        signal?.addEventListener('abort', () => {
          timer.cancel()
          resolve()
        })
      })
    },
  }
}
