import type { OptionSpec } from './options.ts'
import type { Terminal } from './terminal.ts'

/** What a command is described by, in its help, on its page and for completion. */
export interface Described {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  /** Further lines of its help. */
  readonly about?: string | undefined
  /** The names of its arguments; one that may be left out ends with `?`. */
  readonly takes?: readonly string[] | undefined
  readonly options?: Readonly<Record<string, OptionSpec>> | undefined
}

export interface Command extends Described {
  /** What it can do, if that is more than one thing: `justonce dead-letters list`. */
  readonly actions?: readonly Described[] | undefined
  readonly help: string
  /** The help of what these arguments ask for, if that is more than the help of the command. */
  helpFor?(args: readonly string[]): string
  /** Resolves to the exit code: 0 for success, 1 for a negative result, 2 if the command was not understood or could not run. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** Thrown for a mistake on the command line: the message is enough, and no stack is shown. */
export class UsageError extends Error {}

/** Reads arguments. What is wrong with them is shown with the help of their command. */
export function parsing<T>(help: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\n\n${help}`)
  }
}
