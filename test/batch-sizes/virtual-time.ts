/** A step of a process: something that takes time, or that must be waited for. */
export type Step = (resume: () => void) => void

export type Process = Generator<Step, void, void>

/** Processes that take turns in virtual time, so that a measurement does not depend on the machine. */
export class VirtualTime {
  nowMs = 0
  #events: { readonly atMs: number; readonly number: number; readonly run: () => void }[] = []
  #number = 0

  start(process: Process): void {
    const go = (): void => {
      const { value, done } = process.next()
      if (!done) value(go)
    }
    this.at(0, go)
  }

  /** Runs everything until nothing is left to do. */
  run(): void {
    for (let event = this.#pop(); event !== undefined; event = this.#pop()) {
      this.nowMs = event.atMs
      event.run()
    }
  }

  at(delayMs: number, run: () => void): void {
    const event = { atMs: this.nowMs + delayMs, number: this.#number++, run }
    const events = this.#events
    let place = events.push(event) - 1
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!isBefore(event, events[parent] as typeof event)) break
      events[place] = events[parent] as typeof event
      place = parent
    }
    events[place] = event
  }

  pause(ms: number): Step {
    return (resume) => this.at(ms, resume)
  }

  #pop(): { readonly atMs: number; readonly run: () => void } | undefined {
    const events = this.#events
    const [first] = events
    const last = events.pop()
    if (first === undefined || last === undefined || events.length === 0) return first
    let place = 0
    for (;;) {
      let child = 2 * place + 1
      if (child >= events.length) break
      if (child + 1 < events.length && isBefore(events[child + 1] as typeof last, events[child] as typeof last)) child++
      if (!isBefore(events[child] as typeof last, last)) break
      events[place] = events[child] as typeof last
      place = child
    }
    events[place] = last
    return first
  }
}

interface Timed {
  readonly atMs: number
  readonly number: number
}

function isBefore(a: Timed, b: Timed): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.number < b.number)
}

/** A few processors that are shared: who comes when all are busy waits. */
export class Processors {
  readonly #time: VirtualTime
  readonly #waiting: (() => void)[] = []
  #free: number
  usedMs = 0

  constructor(time: VirtualTime, count: number) {
    this.#time = time
    this.#free = count
  }

  use(ms: number): Step {
    return (resume) => {
      const begin = (): void => {
        this.usedMs += ms
        this.#time.at(ms, () => {
          this.#free++
          resume()
          if (this.#free > 0) this.#next()
        })
      }
      if (this.#free === 0) this.#waiting.push(() => begin())
      else {
        this.#free--
        begin()
      }
    }
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next === undefined) return
    this.#free--
    next()
  }
}
