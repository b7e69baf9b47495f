import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { SidePlace } from './place.ts'
import type { WorkerNews } from './worker-process.ts'

interface Worker {
  readonly process: ChildProcess
  readonly ended: Promise<void>
  isAtWork: boolean
  /** Deliveries it has not settled, as it said last. */
  held: number
}

export interface CrewOptions {
  /** The file that a worker process runs. */
  readonly program: 'worker-justonce.ts' | 'worker-naive.ts'
  readonly place: SidePlace
  readonly size: number
  /** Lets restarted workers load faster. */
  readonly compileCache: string
}

/** The worker processes of one side. A killed one is replaced at once. */
export class Crew {
  readonly #options: CrewOptions
  readonly #workers = new Set<Worker>()
  #isStopping = false
  /** Workers that are known to have died of our SIGKILL. */
  kills = 0
  /** Set when a worker has ended although nobody killed it. */
  failure: Error | undefined

  constructor(options: CrewOptions) {
    this.#options = options
  }

  /** How many deliveries the workers say they have not settled. */
  get held(): number {
    return [...this.#workers].reduce((sum, worker) => sum + worker.held, 0)
  }

  /** Also after `stop`: when it turns out that something is left to do. */
  start(): void {
    this.#isStopping = false
    for (let i = 0; i < this.#options.size; i++) this.#hire()
  }

  /** Kills one of the workers that are at work; false when there is none at the moment. */
  async kill(victim: number): Promise<boolean> {
    const candidates = [...this.#workers].filter((worker) => worker.isAtWork)
    const worker = candidates[Math.floor(victim * candidates.length)]
    if (worker === undefined) return false
    worker.isAtWork = false
    worker.process.kill('SIGKILL')
    await worker.ended
    return true
  }

  /** Lets the workers finish what they have in hand; the patience with those that do not is short. */
  async stop(patienceMs: number): Promise<void> {
    this.#isStopping = true
    const workers = [...this.#workers]
    for (const { process } of workers) if (process.connected) process.send('stop', () => {})
    const impatience = setTimeout(() => {
      for (const { process } of workers) process.kill('SIGKILL')
    }, patienceMs)
    await Promise.all(workers.map(({ ended }) => ended))
    clearTimeout(impatience)
  }

  #hire(): void {
    const { program, place, compileCache } = this.#options
    const child = fork(fileURLToPath(new URL(program, import.meta.url)), [JSON.stringify(place)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    })
    let complaints = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaints = (complaints + text).slice(-4_000)
    })
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const worker: Worker = { process: child, ended, isAtWork: false, held: 0 }
    this.#workers.add(worker)
    child.on('message', (news: WorkerNews) => {
      if (news === 'at work') worker.isAtWork = true
      else worker.held = news.held
    })
    child.once('error', (error) => this.#fail(error.message))
    child.once('close', (code, signal) => {
      this.#workers.delete(worker)
      if (!this.#isStopping) {
        if (signal === 'SIGKILL') this.kills++
        else this.#fail(`${program} ended by itself (${signal ?? `exit code ${code}`}).\n${complaints}`)
        if (this.failure === undefined) this.#hire()
      }
      resolve()
    })
  }

  #fail(message: string): void {
    this.failure ??= new Error(message)
  }
}
