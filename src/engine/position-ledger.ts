import type { Delivery, Partition, Position, PositionMove } from '../contracts/index.ts'

interface Entry {
  /** What is stored, as far as this process knows; undefined: nothing. */
  stored: Position | undefined
  /** Grows with every assignment: what was delivered before the last one is somebody else's now. */
  readonly generation: number
}

/** What this process knows of the positions of its partitions. */
export class PositionLedger {
  readonly group: string
  readonly #entries = new Map<string, Entry>()
  readonly #arrived = new WeakMap<Delivery, number>()
  /** The assignment that a move was made for. */
  readonly #assignments = new WeakMap<PositionMove, Entry>()

  constructor(group: string) {
    this.group = group
  }

  /** A partition was assigned, and this is where it goes on. */
  restored({ source, partition }: Partition, stored: Position | undefined): void {
    const id = nameOf(source, partition)
    this.#entries.set(id, { stored, generation: (this.#entries.get(id)?.generation ?? 0) + 1 })
  }

  arrived(deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries)
      this.#arrived.set(delivery, this.#entries.get(partitionId(delivery))?.generation ?? 0)
  }

  /** It was delivered under the assignment that holds now. */
  isOurs(delivery: Delivery): boolean {
    const entry = this.#entries.get(partitionId(delivery))
    return entry !== undefined && this.#arrived.get(delivery) === entry.generation
  }

  /** From what is stored to behind the last of these, for each of their partitions. Given in the order of arrival. */
  movesPast(deliveries: readonly Delivery[]): PositionMove[] {
    const moves = new Map<string, PositionMove>()
    for (const { message, place } of deliveries) {
      if (place === undefined) continue
      const { partition, next, incarnation } = place
      const id = nameOf(message.source, partition)
      const entry = this.#entries.get(id)
      const move = { source: message.source, partition, expected: entry?.stored, to: { next, incarnation } }
      moves.set(id, move)
      if (entry !== undefined) this.#assignments.set(move, entry)
    }
    // Sorted, so that two processes never wait for each other's partitions in a circle.
    return [...moves].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, move]) => move)
  }

  /** They are committed. A partition that was assigned anew meanwhile has its own idea of what is stored. */
  moved(moves: readonly PositionMove[]): void {
    for (const move of moves) {
      const entry = this.#entries.get(nameOf(move.source, move.partition))
      if (entry !== undefined && entry === this.#assignments.get(move)) entry.stored = move.to
    }
  }
}

/** Names the partition of a delivery; those without a place have none. */
export function partitionId({ message, place }: Delivery): string {
  return nameOf(message.source, place?.partition ?? '')
}

export function nameOf(source: string, partition: string): string {
  return JSON.stringify([source, partition])
}
