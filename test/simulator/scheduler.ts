import { Random } from './random.ts'

/** Who an event belongs to: a dead owner's events are dropped, a paused one's wait until it wakes up. */
export interface Owner {
  readonly name: string
  readonly isAlive: boolean
  readonly isPaused: boolean
  whenResumed(callback: () => void): void
}

interface Event {
  readonly at: number
  readonly order: number
  readonly owner: Owner | undefined
  readonly callback: () => void
  cancelled: boolean
}

/**
 * Virtual time and everything that happens in it. One event runs at a time, followed by all the promise work that it
 * causes; what comes next is decided by time and, within one moment, by order. Nothing else moves the simulation.
 */
export class Scheduler {
  readonly random: Random
  readonly trace: string[] = []
  readonly #tracing: boolean
  #now = 0
  #order = 0
  #heap: Event[] = []

  constructor(seed: number, tracing = false) {
    this.random = new Random(seed)
    this.#tracing = tracing
  }

  get now(): number {
    return this.#now
  }

  note(who: string, what: string): void {
    if (this.#tracing) this.trace.push(`${this.#now.toFixed(1).padStart(9)} ${who.padEnd(10)} ${what}`)
  }

  /** So much time passes at once: whatever was due meanwhile happens late, as after a night in which all machines slept. */
  leap(ms: number): void {
    this.#now += ms
    this.note('everybody', `SLEEPS for ${(ms / 3_600_000).toFixed(1)} hours`)
  }

  after(ms: number, callback: () => void, owner?: Owner): { cancel(): void } {
    const event: Event = { at: this.#now + Math.max(0, ms), order: this.#order++, owner, callback, cancelled: false }
    this.#push(event)
    return {
      cancel() {
        event.cancelled = true
      },
    }
  }

  /** Runs until nothing is left to happen, `until` says stop, or virtual time is over. Resolves to whether `until` did. */
  async run(until: () => boolean, endMs = Number.POSITIVE_INFINITY): Promise<boolean> {
    await allPromiseWork()
    while (!until()) {
      const event = this.#pop()
      if (event === undefined || event.at > endMs) return false
      if (event.cancelled || (event.owner !== undefined && !event.owner.isAlive)) continue
      this.#now = Math.max(this.#now, event.at)
      if (event.owner?.isPaused) {
        event.owner.whenResumed(event.callback)
        continue
      }
      event.callback()
      await allPromiseWork()
    }
    return true
  }

  /** Runs what is due up to a moment: for a world that keeps step with real time. */
  async runDue(untilMs: number): Promise<void> {
    for (let next = this.#heap[0]; next !== undefined && next.at <= untilMs; next = this.#heap[0]) {
      const { at } = next
      await this.run(() => this.#now > at || this.#heap[0] !== next, at)
    }
    this.#now = Math.max(this.#now, untilMs)
  }

  #push(event: Event): void {
    const heap = this.#heap
    let index = heap.push(event) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(event, heap[parent] as Event)) break
      heap[index] = heap[parent] as Event
      index = parent
    }
    heap[index] = event
  }

  #pop(): Event | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || first === last) return first
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
      if (!isBefore(heap[child] as Event, last)) break
      heap[index] = heap[child] as Event
      index = child
    }
    heap[index] = last
    return first
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** Promise callbacks run before the next macrotask: when this resolves, none is left. */
function allPromiseWork(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
