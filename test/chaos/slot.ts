import { setTimeout as pause } from 'node:timers/promises'
import type { ConsumerChild, End } from '../crash/consumer-child.ts'
import type { ChildEvent, ConsumerConfig } from '../crash/fixtures/consumer-config.ts'
import type { World } from '../crash/world.ts'
import type { FaultProxy } from '../servers/proxy.ts'

export interface SlotOptions {
  readonly world: World
  readonly config: Partial<ConsumerConfig>
  readonly proxy: FaultProxy | undefined
  hear(slot: Slot, event: ChildEvent): void
}

const keptEvents = 400
const restartPauseMs = 200
const stopPatienceMs = 30_000

/** One consumer process after the other: whichever way it ends, the next is started, as a supervisor would. */
export class Slot {
  /** Somebody is tampering with it, and nobody else should. */
  isTaken = false
  /** Ends that nobody has asked for, with what was said before. */
  readonly crashes: string[] = []
  readonly proxy: FaultProxy | undefined
  readonly #options: SlotOptions
  #child: ConsumerChild
  #killed: ConsumerChild | undefined
  #hasStarted = false
  #hasProcessed = false
  #isStopping = false

  constructor(options: SlotOptions) {
    this.#options = options
    this.proxy = options.proxy
    this.#child = this.#launch()
  }

  /** The process that runs now has processed something. */
  get isAtWork(): boolean {
    return this.#hasProcessed
  }

  #launch(): ConsumerChild {
    this.#hasStarted = false
    this.#hasProcessed = false
    const child: ConsumerChild = this.#options.world.start(this.#options.config, (event) => this.#heard(child, event))
    void child.ended.then((end) => this.#ended(child, end))
    return child
  }

  #heard(child: ConsumerChild, event: ChildEvent): void {
    if (event.event === 'started' && child === this.#child) this.#hasStarted = true
    if (event.event === 'processed' && child === this.#child) this.#hasProcessed = true
    if (child.events.length > keptEvents) child.events.splice(0, keptEvents / 2)
    this.#options.hear(this, event)
  }

  async #ended(child: ConsumerChild, { signal }: End): Promise<void> {
    if (this.#isStopping || child === this.#killed) return
    // One that cannot reach the store when it starts gives up; that is what supervisors are for. And a Ctrl-C goes to
    // all processes of the terminal.
    if (this.#hasStarted && signal !== 'SIGINT') this.crashes.push(`It ended by itself.\n${child.story()}`)
    await pause(restartPauseMs)
    if (!this.#isStopping && child === this.#child) this.#child = this.#launch()
  }

  /** Resolves when the last line of the killed one has been read and the next is starting. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#killed = child
    await child.kill()
    if (child === this.#child) this.#child = this.#launch()
    child.events.length = 0
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.signal(signal)
  }

  /** Ends it for good. Resolves to what was wrong with that, if something was. */
  async stop(): Promise<string | undefined> {
    const child = this.#child
    try {
      if (!this.#hasStarted) await child.heard('started')
      this.#isStopping = true
      await Promise.race([child.stop(), timeIsUp(child)])
      return undefined
    } catch (error) {
      await this.end()
      return String(error)
    }
  }

  /** Ends it for good, without asking. */
  async end(): Promise<void> {
    this.#isStopping = true
    await this.#child.kill()
  }

  story(): string {
    return this.#child.story()
  }
}

async function timeIsUp(child: ConsumerChild): Promise<never> {
  await pause(stopPatienceMs, undefined, { ref: false })
  throw new Error(`It did not stop within ${stopPatienceMs} ms.\n${child.story()}`)
}
