import { spawn } from 'node:child_process'
import { repoRoot } from './repo.ts'

export interface Finished {
  ok: boolean
  stdout: string
  /** Both streams, in the order they were written. */
  output: string
}

export interface RunOptions {
  cwd?: string
  timeoutMs?: number
  env?: NodeJS.ProcessEnv
}

/** Runs a command to its end and never throws: a command that cannot start has failed. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { cwd = repoRoot, timeoutMs = 300_000, env = process.env } = options
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, timeout: timeoutMs, stdio: ['ignore', 'pipe', 'pipe'] })
    let stdout = ''
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.on('error', (error) => resolve({ ok: false, stdout, output: `${output}${error.message}\n` }))
    child.on('close', (code, signal) => {
      if (signal !== null) output += `${command} was ended by ${signal}\n`
      resolve({ ok: code === 0, stdout, output })
    })
  })
}

export function nonEmptyLines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}
