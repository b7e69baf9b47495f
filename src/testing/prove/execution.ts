import type { Gate } from './gate.ts'
import { runOutside } from './inside-handler.ts'
import type { Journal } from './journal.ts'
import type { Life } from './life.ts'
import { placeOf } from './place.ts'
import { oneLine, type Step } from './steps.ts'
import { transientError } from './transient-error.ts'

export interface ExecutionOptions {
  readonly handler: string
  readonly gate: Gate
  readonly life: Life
  readonly journal: Journal
  /** The number of the process. */
  readonly process: number
}

/** One call through `tx`. */
export interface WatchedCall<T> {
  readonly text: string
  readonly values: unknown
  run(): T
}

/** One handler with one message. Every use of its `tx` passes through here. */
export class Execution {
  readonly handler: string
  /** The id of its message, once the handler is called. */
  message: string | undefined
  readonly #options: ExecutionOptions
  readonly #open = new Set<{ readonly text: string; readonly from: Error }>()
  #ended: 'resolved' | 'rejected' | undefined
  #hadError = false

  constructor(options: ExecutionOptions) {
    this.handler = options.handler
    this.#options = options
  }

  /** Whether one of its queries was made to fail. */
  get hadError(): boolean {
    return this.#hadError
  }

  async call<T>({ text, values, run }: WatchedCall<T | Promise<T>>, fail: () => T | Promise<T>): Promise<T> {
    const outside = (): T | Promise<T> => runOutside(run)
    if (this.#isStray(text)) return await outside()
    // Only an error knows where it was created. Its stack is formatted only if it is needed.
    const open = { text, from: new Error() }
    this.#open.add(open)
    try {
      return await this.#options.gate.pass<T>({
        step: this.#step(text),
        values,
        run: outside,
        fail: () => {
          this.#hadError = true
          return runOutside(fail)
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

  /** For a query that is sent only when it is awaited or becomes part of another one. */
  wrote(text: string): { used(): void } {
    const written = { text, from: new Error() }
    if (this.#ended === undefined) this.#open.add(written)
    return { used: () => void this.#open.delete(written) }
  }

  /** For calls that are refused if they come too late, before or without a query. */
  prepares(text: string): void {
    this.#isStray(text)
  }

  settled(how: 'resolved' | 'rejected', error?: unknown): void {
    this.#ended = how
    const { life, journal, process } = this.#options
    if (life.isOver) return
    const reason = error instanceof Error ? error.message : String(error)
    journal.add(
      process,
      'return',
      `${this.handler} ${how === 'resolved' ? 'returns' : `fails: ${oneLine(reason, 80)}`}`,
    )
    if (how === 'rejected') return
    if (this.#hadError) journal.swallowedBy.add(this.handler)
    for (const { text, from } of this.#open) this.#stray(text, from)
  }

  #isStray(text: string): boolean {
    if (this.#ended === undefined) return false
    this.#stray(text, new Error())
    return true
  }

  #stray(text: string, from: Error): void {
    const { life, journal, process } = this.#options
    if (life.isOver) return
    journal.add(process, 'fault', `too late: ${oneLine(text)}`)
    journal.strayCalls.push({ handler: this.handler, text, after: this.#ended ?? 'resolved', place: placeOf(from) })
  }

  #step(text: string): Step {
    return { kind: 'query', text, handler: this.handler, message: this.message }
  }
}
