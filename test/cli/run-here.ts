import { runCommand } from '../../src/cli/run-command.ts'
import type { Ended } from './run-justonce.ts'

/** Runs a command in this process: for tests of many commands, where a process for each would take too long. */
export async function runHere(args: readonly string[], columns?: number): Promise<Ended> {
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(args, {
    out: { ...(columns !== undefined && { isTTY: true, columns }), write: (text: string) => out.push(text) },
    err: { write: (text) => err.push(text) },
  })
  return { code, out: out.join(''), err: err.join('') }
}
