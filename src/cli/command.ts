import type { Terminal } from './terminal.ts'

export interface Command {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  readonly help: string
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
