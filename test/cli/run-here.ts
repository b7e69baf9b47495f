import { runCommand } from '../../src/cli/run-command.ts'
import type { Ended } from './run-justonce.ts'

/** Runs a command in this process: for tests of many commands, where a process for each would take too long. */
export async function runHere(args: readonly string[]): Promise<Ended> {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(args, {
    out: { write: (text) => out.push(text) },
    err: { write: (text) => err.push(text) },
  })
  return { code, out: out.join(''), err: err.join('') }
}
