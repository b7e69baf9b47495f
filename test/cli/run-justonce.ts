import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** Runs the command in a process of its own, as a user does, and resolves when it has ended. */
export function runJustonce(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = root,
): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { cwd, env: { ...process.env, ...env } }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err })
    })
  })
}
