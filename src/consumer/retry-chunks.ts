import { isForQueue } from '../encoding/outgoing-queue.ts'
import type { Reservation } from '../engine/retries/reservation.ts'

/** What is tried together, in one place: consecutive messages of an order key, one suspect, or a few messages of one handler. */
export interface Chunk {
  readonly handler: string
  readonly kind: 'few' | 'ordered' | 'suspect'
  readonly reservations: readonly Reservation[]
}

/** Messages that share a transaction with a slow one wait for it, so there are never more than this. */
const largest = 20
const slowMs = 100

/** Decides how many messages of a handler are tried together. */
export class RetryChunks {
  readonly #sizes = new Map<string, number>()

  /** The largest chunk, which limits how many messages are worth reserving. */
  readonly most = largest

  /**
   * Each message in its own chunk, so that a slow one blocks no others, unless there are so many that all must wait anyway. Outgoing
   * messages are only moved, all together, in the order in which they are due.
   */
  split(reservations: readonly Reservation[], areMany: boolean): Chunk[] {
    const chunks: Chunk[] = []
    const open = new Map<string, Reservation[]>()
    for (const reservation of reservations) {
      const { handler, orderKey, begun } = reservation.letter
      if (begun > 0) chunks.push({ handler, kind: 'suspect', reservations: [reservation] })
      else if (orderKey !== undefined) chunks.push({ handler, kind: 'ordered', reservations: [reservation] })
      else {
        const few = open.get(handler)
        const isRoom = isForQueue(handler) || (areMany && (few?.length ?? 0) < this.#sizeOf(handler))
        if (few !== undefined && isRoom) few.push(reservation)
        else {
          const first = [reservation]
          open.set(handler, first)
          chunks.push({ handler, kind: 'few', reservations: first })
        }
      }
    }
    return chunks
  }

  learn({ handler, kind, reservations }: Chunk, tookMs: number): void {
    if (kind !== 'few') return
    const size = this.#sizeOf(handler)
    if (tookMs > slowMs) this.#sizes.set(handler, 1)
    else if (reservations.length >= size) this.#sizes.set(handler, Math.min(size * 2, largest))
  }

  #sizeOf(handler: string): number {
    return this.#sizes.get(handler) ?? 1
  }
}
