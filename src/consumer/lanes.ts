import type { Delivery } from '../contracts/index.ts'
import { affinityOf } from './taking-order.ts'

/** Deliveries waiting for one worker. What shares a key, or a lane of the transport, shares a lane here and stays in order. */
export class Lane {
  readonly queue: Delivery[] = []
  busy = false
  /** What is to wait, and what follows it in its key or lane; a delivery without either stands for itself. */
  readonly #aside = new Map<string | Delivery, Delivery[]>()
  #wake: (() => void) | undefined

  push(deliveries: readonly Delivery[]): void {
    if (this.#aside.size === 0) this.queue.push(...deliveries)
    else for (const delivery of deliveries) (this.#asideOf(delivery) ?? this.queue).push(delivery)
    this.wake()
  }

  /** Keeps these, and whatever follows in their keys, out of the queue until `resume`. They are older than all of it. */
  setAside(affinity: string | Delivery, deliveries: readonly Delivery[]): void {
    const following = this.queue.filter((delivery) => affinityOf(delivery) === affinity)
    if (following.length > 0) {
      const rest = this.queue.filter((delivery) => affinityOf(delivery) !== affinity)
      this.queue.splice(0, this.queue.length, ...rest)
    }
    this.#aside.set(affinity, [...deliveries, ...(this.#aside.get(affinity) ?? []), ...following])
  }

  resume(affinity: string | Delivery): void {
    const deliveries = this.#aside.get(affinity) ?? []
    this.#aside.delete(affinity)
    this.putBack(deliveries)
  }

  /** Everything that waits here, whatever for. */
  takeAll(): Delivery[] {
    const all = [...[...this.#aside.values()].flat(), ...this.queue.splice(0)]
    this.#aside.clear()
    return all
  }

  #asideOf(delivery: Delivery): Delivery[] | undefined {
    const affinity = affinityOf(delivery)
    return affinity === undefined ? undefined : this.#aside.get(affinity)
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
