import type { Cpu } from './cpu.ts'

export interface BenchOptions {
  /** How often every way of working is measured; the median counts. */
  readonly rounds: number
  /** Distinct messages of one measurement; duplicates come on top. */
  readonly messages: number
}

/** What a ratio should be. It is shown, and whether it was missed; nothing else depends on it. */
export interface Goal {
  readonly atLeast: number
  readonly atMost?: number
}

/** One way of working, measured. */
export interface Row {
  readonly name: string
  /** The round trip to the database, where it is part of the question. */
  readonly rttMs?: number
  /** Deliveries per second, the median of the rounds. */
  readonly perSecond: number
  /** Against the way of working that this one is compared with, measured in the same rounds. */
  readonly ratio: number
  /** After every round the tables held exactly what this way of working has to leave there. */
  readonly correct: boolean
  readonly goal?: Goal & { readonly met: boolean }
  /** For each delivery, where it was counted. */
  readonly cpu?: Cpu
}

/** A table to print; the first line is its head. */
export type Lines = readonly (readonly string[])[]

export interface SuiteResult {
  readonly rows: readonly Row[]
  /** What is no row, by name; it goes into the JSON file, too. */
  readonly more?: Readonly<Record<string, readonly object[]>>
  /** What a person wants to see; the JSON file has the rows instead. */
  readonly tables: readonly { readonly title: string; readonly lines: Lines }[]
  /** Puts the results into the page that shows them; a quick run does not. */
  writePage?(): void
}

/** A suite is a file in this folder and a line in main.ts. */
export interface Suite<Options extends BenchOptions = BenchOptions> {
  readonly name: string
  readonly about: string
  /** Whatever is named here can be given on the command line: a whole number, or a list of numbers. */
  readonly defaults: Options
  /** The same for a run that only shows that everything works: what it measures says nothing. */
  readonly quick: Options
  run(options: Options, say: (line: string) => void): Promise<SuiteResult>
}
