import { isNothing, type MinuteOfProcess, minuteMs } from '../facts/index.ts'
import type { Counter } from './counter.ts'

/** As many as are worth keeping while the store cannot be written to. */
const mostUnsaved = 60

/** Ends the minutes of a counter, and keeps those that are over until they are saved. */
export class MinutesToSave {
  readonly #counter: Pick<Counter, 'minute' | 'nextMinute'>
  readonly #process: string
  #number: number | undefined
  #unsaved: MinuteOfProcess[] = []

  constructor(counter: Pick<Counter, 'minute' | 'nextMinute'>, process: string) {
    this.#counter = counter
    this.#process = process
  }

  /** The minutes that are over. `now` is the database's time, so that the minutes of all processes are the same. */
  over(now: number, { isLast = false }: { readonly isLast?: boolean } = {}): readonly MinuteOfProcess[] {
    const number = Math.floor(now / minuteMs)
    this.#number ??= number
    if (number === this.#number && !isLast) return this.#unsaved
    const { minute: counts } = this.#counter
    const at = new Date(this.#number * minuteMs)
    if (!isNothing(counts))
      this.#unsaved = [...this.#unsaved, { at, process: this.#process, counts }].slice(-mostUnsaved)
    this.#counter.nextMinute()
    this.#number = number
    return this.#unsaved
  }

  saved(): void {
    this.#unsaved = []
  }
}
