import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { bundled } from '../programs/bundled.ts'
import type { ChildEvent, ConsumerConfig } from './fixtures/consumer-config.ts'
import type { IntentConfig } from './fixtures/intent-config.ts'
import type { RelayConfig } from './fixtures/relay-config.ts'

const programs = {
  consumer: await bundled(new URL('./fixtures/consumer-process.ts', import.meta.url)),
  relay: await bundled(new URL('./fixtures/relay-process.ts', import.meta.url)),
  intents: await bundled(new URL('./fixtures/intent-process.ts', import.meta.url)),
}
const patienceMs = 90_000

export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A consumer, a relay or a worker with effects in a process of its own, and everything it has said. */
export class ConsumerChild {
  readonly events: ChildEvent[] = []
  readonly ended: Promise<End>
  readonly #process: ChildProcess
  readonly #watchers = new Set<() => void>()
  #end: End | undefined
  #errors = ''

  /** `hear` gets every event as it comes. */
  constructor(config: ConsumerConfig | RelayConfig | IntentConfig, hear?: (event: ChildEvent) => void) {
    const heapMb = 'heapMb' in config ? config.heapMb : undefined
    const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]
    const program = 'arrivals' in config ? programs.relay : 'provider' in config ? programs.intents : programs.consumer
    this.#process = spawn(process.execPath, [...flags, program, JSON.stringify(config)], { stdio: 'pipe' })
    const { stdin, stdout, stderr } = this.#process
    // It may die while we are talking to it.
    stdin?.on('error', () => {})
    stderr?.on('data', (chunk) => {
      this.#errors += chunk
    })
    createInterface({ input: stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const event = JSON.parse(line) as ChildEvent
      this.events.push(event)
      hear?.(event)
      this.#notify()
    })
    // `close` comes after the last line was read; `exit` may come before it.
    this.ended = once(this.#process, 'close').then(([code, signal]) => {
      this.#end = { code, signal }
      this.#notify()
      return this.#end
    })
  }

  /** Resolves with the first event that fits, past or future. Fails when the process ends or stays silent for too long. */
  async until(fits: (event: ChildEvent) => boolean, what: string): Promise<ChildEvent> {
    const deadline = AbortSignal.timeout(patienceMs)
    for (;;) {
      const found = this.events.find(fits)
      if (found !== undefined) return found
      if (this.#end !== undefined) throw new Error(`The process ended before ${what}.\n${this.story()}`)
      if (deadline.aborted) throw new Error(`Nothing was heard of ${what}.\n${this.story()}`)
      await this.#next(deadline)
    }
  }

  reached(point: string): Promise<ChildEvent> {
    return this.until((event) => event.event === 'reached' && event.point === point, `it reached ${point}`)
  }

  heard(name: string): Promise<ChildEvent> {
    return this.until(({ event }) => event === name, `"${name}"`)
  }

  all(name: string): ChildEvent[] {
    return this.events.filter(({ event }) => event === name)
  }

  /** Lets it go on from a point where it waits. */
  go(): void {
    this.#process.stdin?.write('go\n')
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  /** Ends it, if it has not ended by itself. */
  async kill(): Promise<End> {
    if (this.#end === undefined) this.#process.kill('SIGKILL')
    return this.ended
  }

  /** Asks it to stop and fails unless it does so in good order. */
  async stop(): Promise<void> {
    this.signal('SIGTERM')
    const end = await this.ended
    if (end.code !== 0) throw new Error(`It did not stop in good order: ${JSON.stringify(end)}.\n${this.story()}`)
  }

  #next(deadline: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#watchers.delete(wake)
        deadline.removeEventListener('abort', wake)
        resolve()
      }
      this.#watchers.add(wake)
      deadline.addEventListener('abort', wake)
    })
  }

  #notify(): void {
    for (const wake of [...this.#watchers]) wake()
  }

  /** For the message of a failed test. */
  story(): string {
    const lines = this.events.map((event) => JSON.stringify(event))
    return [...lines.slice(-40), JSON.stringify(this.#end ?? 'still running'), this.#errors].join('\n')
  }
}
