import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Child {
  readonly process: ChildProcess
  /** Resolves when the child has said this line. */
  said(line: string): Promise<void>
  /** Resolves to its exit code. */
  readonly ended: Promise<number | null>
}

/** Runs a program of fixtures/ in a process of its own. */
export function startChild(program: string, args: readonly string[]): Child {
  return startChildAt(new URL(`./fixtures/${program}.ts`, import.meta.url), args)
}

export function startChildAt(file: URL, args: readonly string[]): Child {
  const child = spawn(process.execPath, [fileURLToPath(file), ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  return {
    process: child,
    ended,
    async said(line) {
      while (!output.includes(`${line}\n`)) {
        const code = await Promise.race([once(child.stdout, 'data').then(() => undefined), ended])
        if (code !== undefined && !output.includes(`${line}\n`))
          throw new Error(`It ended with ${code}, saying ${output}`)
      }
    },
  }
}
