import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundled } from '../programs/bundled.ts'
import type { ServiceConfig } from './config.ts'

const program = await bundled(new URL('./fixtures/service.ts', import.meta.url))

/** A service in a process of its own, which is started again whenever it dies. */
export class Service {
  deaths = 0
  readonly #config: ServiceConfig
  #child: ChildProcess
  #ended: Promise<unknown>
  #isStopping = false
  #errors = ''

  constructor(config: ServiceConfig) {
    this.#config = config
    ;[this.#child, this.#ended] = this.#launch()
  }

  async kill(): Promise<void> {
    const ended = this.#ended
    this.#child.kill('SIGKILL')
    await ended
  }

  /** Ends it for good, and in good order: what it has not settled goes back. */
  async stop(): Promise<void> {
    this.#isStopping = true
    // One that cannot reach its broker may be waiting for it.
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 40_000)
    this.#child.kill('SIGTERM')
    await this.#ended
    clearTimeout(timer)
  }

  get story(): string {
    return this.#errors.slice(-4_000)
  }

  #launch(): [ChildProcess, Promise<unknown>] {
    const child = spawn(process.execPath, [program, JSON.stringify(this.#config)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout?.resume()
    child.stderr?.on('data', (chunk) => {
      this.#errors += chunk
    })
    const ended = once(child, 'close').then(() => {
      if (this.#isStopping) return
      this.deaths++
      ;[this.#child, this.#ended] = this.#launch()
    })
    return [child, ended]
  }
}
