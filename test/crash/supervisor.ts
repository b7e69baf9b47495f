import type { ConsumerChild, End } from './consumer-child.ts'
import type { ChildEvent, ConsumerConfig } from './fixtures/consumer-config.ts'
import type { World } from './world.ts'

/** Keeps one consumer process running: whenever it dies, the next is started. */
export class Supervisor {
  /** How its processes have ended, the first first. */
  readonly deaths: End[] = []
  readonly #world: World
  readonly #config: Partial<ConsumerConfig>
  readonly #hear: ((event: ChildEvent) => void) | undefined
  #child: ConsumerChild
  #isStopping = false

  constructor(world: World, config: Partial<ConsumerConfig>, hear?: (event: ChildEvent) => void) {
    this.#world = world
    this.#config = config
    this.#hear = hear
    this.#child = this.#launch()
  }

  /** The process that runs now. */
  get child(): ConsumerChild {
    return this.#child
  }

  #launch(): ConsumerChild {
    const child = this.#world.start(this.#config, this.#hear)
    void child.ended.then((end) => {
      this.deaths.push(end)
      if (!this.#isStopping) this.#child = this.#launch()
    })
    return child
  }

  /** Resolves when it is dead and its successor is starting. */
  async kill(): Promise<void> {
    await this.#child.kill()
  }

  /** Ends it for good; fails unless the process that runs now stops in good order. */
  async stop(): Promise<void> {
    await this.#child.heard('started')
    this.#isStopping = true
    await this.#child.stop()
  }

  /** Ends it for good, however it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true
    await this.#child.kill()
  }
}
