import type { Journal } from './journal.ts'
import { type Life, ProcessDied } from './life.ts'
import { oneLine, type Step, type Strike } from './steps.ts'
import { sortedJson } from './tables.ts'

export interface GateOptions {
  readonly process: number
  readonly life: Life
  readonly journal: Journal
  /** Decides what happens at a step. */
  strikeAt(step: Step): Strike | undefined
}

export interface Passing<T> {
  readonly step: Step
  readonly values?: unknown
  /** What a handler has published or intended. */
  readonly content?: unknown
  run(): T
  /** Fails as the database does when two transactions conflict. */
  fail(): T
}

/** Every step of a process passes through here and may be disturbed. */
export class Gate {
  readonly #options: GateOptions

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** For calls that can be awaited. */
  async pass<T>({ step, values, content, run, fail }: Passing<T | Promise<T>>): Promise<T> {
    const { life, journal } = this.#options
    if (life.isOver) return life.silence()
    const strike = this.#options.strikeAt(step)
    if (strike?.kind === 'meanwhile') await strike.begin()
    this.#write(step, strike, values)
    if (strike?.kind === 'crash-before') return this.die()
    let answer: T
    try {
      answer = await (strike?.kind === 'error' ? fail() : run())
    } catch (error) {
      if (life.isOver) return life.silence()
      this.failed(error)
      throw error
    }
    if (life.isOver) return life.silence()
    journal.answered(step, content ?? values, answer)
    if (strike?.kind === 'crash-after') return this.dieAfter()
    return answer
  }

  /** For synchronous calls, as in SQLite. */
  passAtOnce<T>({ step, values, run, fail }: Passing<T>): T {
    const { life, journal } = this.#options
    if (life.isOver) throw new ProcessDied()
    const strike = this.#options.strikeAt(step)
    if (strike?.kind === 'meanwhile') void strike.begin()
    this.#write(step, strike, values)
    if (strike?.kind === 'crash-before') {
      life.end()
      throw new ProcessDied()
    }
    try {
      const answer = strike?.kind === 'error' ? fail() : run()
      journal.answered(step, values, answer)
      if (strike?.kind === 'crash-after') this.#diesNow()
      return answer
    } catch (error) {
      if (!life.isOver) this.failed(error)
      throw error
    }
  }

  /** For a step that does not end where it begins: records it and returns what happens to it. */
  async begin(step: Step): Promise<Strike | undefined> {
    const strike = this.#options.strikeAt(step)
    if (strike?.kind === 'meanwhile') await strike.begin()
    this.#write(step, strike, undefined)
    return strike
  }

  failed(error: unknown): void {
    this.#note(`fails: ${oneLine(error instanceof Error ? error.message : String(error), 90)}`)
  }

  undone(): void {
    this.#note('the transaction is rolled back')
  }

  answerLost(happened: boolean): void {
    this.#note(
      happened
        ? 'the database commits, but its answer does not arrive'
        : 'the connection breaks; the database has not committed',
    )
  }

  die(): Promise<never> {
    this.#options.life.end()
    return this.#options.life.silence()
  }

  dieAfter(): Promise<never> {
    this.#note('the process dies after this')
    return this.die()
  }

  #diesNow(): never {
    this.#note('the process dies after this')
    this.#options.life.end()
    throw new ProcessDied()
  }

  #write(step: Step, strike: Strike | undefined, values: unknown): void {
    const { journal, process } = this.#options
    if (strike?.kind === 'crash-before') journal.add(process, 'fault', 'the process dies before this:', step)
    else journal.add(process, 'step', describeValues(values), step)
  }

  #note(text: string): void {
    this.#options.journal.add(this.#options.process, 'fault', text)
  }
}

function describeValues(values: unknown): string {
  if (!Array.isArray(values) || values.length === 0) return ''
  return oneLine(values.map((value) => sortedJson(value) ?? String(value)).join(', '), 60)
}
