import type { Journal } from './journal.ts'
import { type Life, ProcessDied } from './life.ts'
import { describeStep, oneLine, type Step, type Strike } from './steps.ts'
import { sortedJson } from './tables.ts'

export interface GateOptions {
  readonly process: number
  readonly life: Life
  readonly journal: Journal
  /** Says what is to happen at a step. */
  strikeAt(step: Step): Strike | undefined
}

export interface Passing<T> {
  readonly step: Step
  readonly values?: unknown
  run(): T
  /** Fails as the database fails when two transactions get in each other's way. */
  fail(): T
}

/** Every step of a process goes through here, and may be struck. */
export class Gate {
  readonly #options: GateOptions

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** For what can be awaited. */
  async pass<T>({ step, values, run, fail }: Passing<T | Promise<T>>): Promise<T> {
    const { life, journal } = this.#options
    if (life.isOver) return life.silence()
    const strike = this.begin(step, values)
    if (strike?.kind === 'meanwhile') await strike.begin()
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
    journal.answered(step, values, answer)
    if (strike?.kind === 'crash-after') return this.die()
    return answer
  }

  /** For what answers at once, as SQLite does. */
  passAtOnce<T>({ step, values, run, fail }: Passing<T>): T {
    const { life, journal } = this.#options
    if (life.isOver) throw new ProcessDied()
    const strike = this.begin(step, values)
    if (strike?.kind === 'meanwhile') void strike.begin()
    if (strike?.kind === 'crash-before') this.dieAtOnce()
    try {
      const answer = strike?.kind === 'error' ? fail() : run()
      journal.answered(step, values, answer)
      if (strike?.kind === 'crash-after') this.dieAtOnce()
      return answer
    } catch (error) {
      if (!life.isOver) this.failed(error)
      throw error
    }
  }

  /** Writes the step down and tells what is to happen at it. */
  begin(step: Step, values?: unknown): Strike | undefined {
    this.#options.journal.add(this.#options.process, 'step', describeStep(step) + describeValues(values))
    return this.#options.strikeAt(step)
  }

  failed(error: unknown): void {
    this.#note(`fails: ${oneLine(error instanceof Error ? error.message : String(error), 90)}`)
  }

  answerLost(happened: boolean): void {
    this.#note(
      happened
        ? 'the database commits, but its answer does not arrive'
        : 'the connection breaks; the database has not committed',
    )
  }

  die(): Promise<never> {
    this.#end()
    return this.#options.life.silence()
  }

  dieAtOnce(): never {
    this.#end()
    throw new ProcessDied()
  }

  #end(): void {
    this.#note('the process dies here')
    this.#options.life.end()
  }

  #note(text: string): void {
    this.#options.journal.add(this.#options.process, 'fault', text)
  }
}

function describeValues(values: unknown): string {
  if (!Array.isArray(values) || values.length === 0) return ''
  return `   ${oneLine(values.map((value) => sortedJson(value) ?? String(value)).join(', '), 60)}`
}
