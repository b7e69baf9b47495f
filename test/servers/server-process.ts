import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { descendantsOf, ended, killTree } from './process-tree.ts'
import type { ServerFolder } from './server-folder.ts'

/** Fixed, so that PGDATA, PGOPTIONS and the like of the developer's shell cannot change a test. */
const environment = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' }

export type Command = readonly [program: string, ...args: string[]]

export interface ServerProcess {
  readonly pid: number
  hasEnded(): boolean
  /** What the server has written so far; the end of it is usually the reason of a failure. */
  log(): string
  /** Ends the server with its own signal and waits for it and all its children. */
  end(signal: NodeJS.Signals): Promise<void>
  kill9(): Promise<void>
}

/** Runs a tool such as initdb to its end, as the user and in the folder of the server. */
export async function runTool(folder: ServerFolder, [program, ...args]: Command): Promise<void> {
  await promisify(execFile)(program, args, { ...folder.runAs, cwd: folder.path, env: environment })
}

export async function startProcess(folder: ServerFolder, [program, ...args]: Command): Promise<ServerProcess> {
  const logFile = join(folder.path, 'server.log')
  const output = openSync(logFile, 'a')
  // Detached: Ctrl-C in the terminal must reach the tests first, so that they end the server in their own order.
  const child = spawn(program, args, {
    ...folder.runAs,
    cwd: folder.path,
    env: environment,
    detached: true,
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  await once(child, 'spawn')
  const pid = child.pid as number
  folder.guard(pid)
  let hasEnded = false
  const exited = once(child, 'exit').then(() => {
    hasEnded = true
    // The number may soon belong to a stranger.
    folder.guard(undefined)
  })
  child.unref()

  return {
    pid,
    hasEnded: () => hasEnded,
    log: () => readFileSync(logFile, 'utf8'),
    async end(signal) {
      if (hasEnded) return
      const children = descendantsOf(pid)
      child.ref()
      child.kill(signal)
      await exited
      await ended(children)
    },
    async kill9() {
      if (hasEnded) return
      child.ref()
      await killTree(pid)
      await exited
    },
  }
}

/** Asks again and again until the server answers; fails as soon as its process has ended. */
export async function untilReady<T>(server: ServerProcess, ask: () => Promise<T>, timeoutMs = 60_000): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      const reason = server.hasEnded() ? 'The server has ended' : `No answer within ${timeoutMs} ms`
      if (server.hasEnded() || Date.now() > deadline) {
        throw new Error(`${reason}. The end of its log:\n${server.log().slice(-2_000)}`, { cause: error })
      }
    }
    await delay(25)
  }
}
