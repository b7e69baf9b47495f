import type { Reservation } from '../engine/retries/reservation.ts'

/** What is tried together, in one place: a run of an order key, one suspect, or a few of one handler. */
export interface Chunk {
  readonly handler: string
  readonly kind: 'few' | 'ordered' | 'suspect'
  readonly reservations: readonly Reservation[]
}

/** Whoever shares a transaction with a slow message waits for it: never more than these. */
const largest = 20
const slowMs = 100

/** Decides how many messages of a handler are tried together. */
export class RetryChunks {
  readonly #sizes = new Map<string, number>()

  /** The most that may be of use at once. */
  readonly most = largest

  /** Each by itself, so that a slow one holds up nobody, unless there are so many that all have to wait anyway. */
  split(reservations: readonly Reservation[], areMany: boolean): Chunk[] {
    const chunks: Chunk[] = []
    const open = new Map<string, Reservation[]>()
    for (const reservation of reservations) {
      const { handler, orderKey, begun } = reservation.letter
      if (begun > 0) chunks.push({ handler, kind: 'suspect', reservations: [reservation] })
      else if (orderKey !== undefined) chunks.push({ handler, kind: 'ordered', reservations: [reservation] })
      else {
        const few = open.get(handler)
        if (few !== undefined && areMany && few.length < this.#sizeOf(handler)) few.push(reservation)
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
