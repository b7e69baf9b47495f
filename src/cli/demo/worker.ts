import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** The same command in a process of its own, which can be killed. */
export class Worker {
  readonly #path: string
  #process: ChildProcess | undefined
  #isOver = false

  constructor(path: string) {
    this.#path = path
  }

  start(): void {
    const [, main = ''] = process.argv
    const child = spawn(process.execPath, [...process.execArgv, main, 'demo', '--worker', this.#path], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    this.#process = child
    child.once('exit', () => {
      if (!this.#isOver) this.start()
    })
  }

  /** As a crash does: nothing is finished. Another one is started at once. */
  kill(): void {
    this.#process?.kill('SIGKILL')
  }

  async end(): Promise<void> {
    this.#isOver = true
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
