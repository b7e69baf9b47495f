import type { Gate } from './gate.ts'
import type { Journal } from './journal.ts'
import type { Life } from './life.ts'
import type { Step } from './steps.ts'
import { transientError } from './transient-error.ts'

export interface ExecutionOptions {
  readonly handler: string
  readonly gate: Gate
  readonly life: Life
  readonly journal: Journal
}

/** One call through `tx`. */
export interface WatchedCall<T> {
  readonly text: string
  readonly values: unknown
  run(): T
}

/** One handler with one message: every use of its `tx` comes by here. */
export class Execution {
  readonly handler: string
  readonly #options: ExecutionOptions
  readonly #open = new Set<{ readonly text: string }>()
  #ended: 'resolved' | 'rejected' | undefined
  #hadError = false

  constructor(options: ExecutionOptions) {
    this.handler = options.handler
    this.#options = options
  }

  /** A query of it has been made to fail. */
  get hadError(): boolean {
    return this.#hadError
  }

  async call<T>({ text, values, run }: WatchedCall<T | Promise<T>>, fail: () => T | Promise<T>): Promise<T> {
    if (this.#isStray(text)) return await run()
    const open = { text }
    this.#open.add(open)
    try {
      return await this.#options.gate.pass<T>({
        step: this.#step(text),
        values,
        run,
        fail: () => {
          this.#hadError = true
          return fail()
        },
      })
    } finally {
      this.#open.delete(open)
    }
  }

  callAtOnce<T>({ text, values, run }: WatchedCall<T>): T {
    if (this.#isStray(text)) return run()
    return this.#options.gate.passAtOnce({
      step: this.#step(text),
      values,
      run,
      fail: () => {
        this.#hadError = true
        throw transientError()
      },
    })
  }

  /** For a query that is sent only when somebody awaits it, or makes it part of another. */
  wrote(text: string): { used(): void } {
    const written = { text }
    if (this.#ended === undefined) this.#open.add(written)
    return { used: () => void this.#open.delete(written) }
  }

  /** For a preparation that is refused when it comes too late, before the query itself is made. */
  prepares(text: string): void {
    this.#isStray(text)
  }

  settled(how: 'resolved' | 'rejected'): void {
    this.#ended = how
    if (this.#options.life.isOver || how === 'rejected') return
    if (this.#hadError) this.#options.journal.swallowedBy.add(this.handler)
    for (const { text } of this.#open) this.#stray(text)
  }

  #isStray(text: string): boolean {
    if (this.#ended === undefined) return false
    this.#stray(text)
    return true
  }

  #stray(text: string): void {
    if (this.#options.life.isOver) return
    this.#options.journal.strayCalls.push({ handler: this.handler, text, after: this.#ended ?? 'resolved' })
  }

  #step(text: string): Step {
    return { kind: 'query', text, handler: this.handler }
  }
}
