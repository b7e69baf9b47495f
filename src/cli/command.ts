import type { Terminal } from './terminal.ts'

export interface Command {
  readonly name: string
  /** One line, for the list of commands. */
  readonly summary: string
  readonly help: string
  /** Resolves to the exit code: 0 all is well, 1 it is not, 2 the command was not understood or could not run. */
  run(args: readonly string[], terminal: Terminal): Promise<number>
}

/** Thrown for a mistake on the command line: the message says it all, and nobody needs a stack. */
export class UsageError extends Error {}
