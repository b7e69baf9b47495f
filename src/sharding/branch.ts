import type { Appetite, Delivery } from '../contracts/index.ts'

/** What one shard has been given of the messages of all, and has not taken yet. */
export class Branch {
  readonly shard: string
  #waiting: Delivery[] = []
  #unsettled = new Set<Delivery>()
  #wake = Promise.withResolvers<void>()
  #limit: () => number = () => 0
  isReading = false

  constructor(shard: string) {
    this.shard = shard
  }

  get waiting(): number {
    return this.#waiting.length
  }

  add(delivery: Delivery): void {
    this.#waiting.push(delivery)
    this.wake()
  }

  /** How many it would like to have unsettled, and those that it cannot take now: they must not use up the room of other shards. */
  get wanted(): number {
    return this.#limit() + this.#waiting.length
  }

  begin(maxInFlight: number, appetite: Appetite | undefined): () => void {
    this.isReading = true
    this.#limit = () => Math.min(maxInFlight, appetite?.now() ?? maxInFlight)
    const stop = appetite?.onGrown(() => this.wake())
    return () => {
      stop?.()
      this.isReading = false
      this.#limit = () => 0
    }
  }

  /** As many as there is room for. */
  take(): readonly Delivery[] {
    for (const delivery of this.#unsettled) if (delivery.ended?.aborted) this.#unsettled.delete(delivery)
    this.#waiting = this.#waiting.filter(({ ended }) => !ended?.aborted)
    const taken = this.#waiting.splice(0, Math.max(0, this.#limit() - this.#unsettled.size))
    for (const delivery of taken) this.#unsettled.add(delivery)
    return taken
  }

  takeBack(): readonly Delivery[] {
    return this.#waiting.splice(0)
  }

  settled(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) this.#unsettled.delete(delivery)
    this.wake()
  }

  wake(): void {
    this.#wake.resolve()
    this.#wake = Promise.withResolvers()
  }

  get changed(): Promise<void> {
    return this.#wake.promise
  }
}
