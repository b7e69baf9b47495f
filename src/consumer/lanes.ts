import type { Delivery } from '../contracts/index.ts'
import { affinityOf } from './taking-order.ts'

/** Deliveries waiting for one worker. What shares a key, or a lane of the transport, shares a lane here and stays in order. */
export class Lane {
  readonly queue: Delivery[] = []
  busy = false
  #wake: (() => void) | undefined

  push(deliveries: readonly Delivery[]): void {
    this.queue.push(...deliveries)
    this.wake()
  }

  /** What was taken and not handled goes back to the front: it is older than everything that waits. */
  putBack(deliveries: readonly Delivery[]): void {
    if (deliveries.length === 0) return
    this.queue.unshift(...deliveries)
    this.wake()
  }

  wake(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  /** Resolves when there may be something to do. */
  async waiting(): Promise<void> {
    if (this.queue.length > 0) return
    await new Promise<void>((resolve) => {
      this.#wake = resolve
    })
  }
}

export class Lanes {
  readonly all: readonly Lane[]
  readonly #full: number

  constructor(count: number, full: number) {
    this.all = Array.from({ length: count }, () => new Lane())
    this.#full = full
  }

  assign(deliveries: readonly Delivery[]): void {
    const parts = new Map<Lane, Delivery[]>()
    for (const delivery of deliveries) {
      const lane = this.#laneOf(delivery, parts)
      const part = parts.get(lane)
      if (part === undefined) parts.set(lane, [delivery])
      else part.push(delivery)
    }
    for (const [lane, part] of parts) lane.push(part)
  }

  #laneOf(delivery: Delivery, parts: Map<Lane, Delivery[]>): Lane {
    const affinity = affinityOf(delivery)
    if (affinity !== undefined) return this.all[hash(affinity) % this.all.length] as Lane
    // Anywhere will do. One lane is filled before the next is begun: a full batch costs little more than a small one.
    const load = (lane: Lane) => lane.queue.length + (parts.get(lane)?.length ?? 0)
    const idle = this.all.find((lane) => !lane.busy && load(lane) < this.#full)
    return idle ?? this.all.reduce((least, lane) => (load(lane) < load(least) ? lane : least))
  }
}

/** FNV-1a: spreads keys evenly and is the same in every process. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193)
  return value >>> 0
}
