import type { Appetite, Delivery } from '../contracts/index.ts'

/** What one shard has been given of the messages of all, and has not taken yet. */
export class Branch {
  readonly shard: string
  #waiting: Delivery[] = []
  #waitingBytes = 0
  #unsettled = new Set<Delivery>()
  #wake = Promise.withResolvers<void>()
  #limit: () => number = () => 0

  constructor(shard: string) {
    this.shard = shard
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** The total size of the bodies that wait. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  /** How many it would like to have unsettled. */
  get limit(): number {
    return this.#limit()
  }

  add(deliveries: readonly Delivery[]): void {
    this.#waiting.push(...deliveries)
    this.#waitingBytes += bytesOf(deliveries)
    this.wake()
  }

  begin(maxInFlight: number, appetite: Appetite | undefined): () => void {
    this.#limit = () => Math.min(maxInFlight, appetite?.now() ?? maxInFlight)
    const stop = appetite?.onGrown(() => this.wake())
    return () => {
      stop?.()
      this.#limit = () => 0
    }
  }

  /** As many as there is room for. */
  take(): readonly Delivery[] {
    this.letGo()
    const taken = this.#waiting.splice(0, Math.max(0, this.#limit() - this.#unsettled.size))
    this.#waitingBytes -= bytesOf(taken)
    for (const delivery of taken) this.#unsettled.add(delivery)
    return taken
  }

  /** Forgets what can no longer be settled: it arrives again, and would be here twice. */
  letGo(): void {
    for (const delivery of this.#unsettled) if (isOver(delivery)) this.#unsettled.delete(delivery)
    this.takeBack(isOver)
  }

  /** Removes and returns what waits here. */
  takeBack(which: (delivery: Delivery) => boolean = () => true): readonly Delivery[] {
    const back = this.#waiting.filter(which)
    if (back.length > 0) this.#waiting = this.#waiting.filter((delivery) => !which(delivery))
    this.#waitingBytes -= bytesOf(back)
    return back
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

function bytesOf(deliveries: readonly Delivery[]): number {
  return deliveries.reduce((sum, { message }) => sum + message.body.byteLength, 0)
}

function isOver({ ended }: Delivery): boolean {
  return ended?.aborted === true
}
