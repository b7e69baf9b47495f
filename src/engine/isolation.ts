/**
 * How many messages share one part (savepoint) of a transaction. A part costs a round trip, so while nothing fails a
 * whole batch shares one and pays nothing. After a failure each message gets its own, and the size grows back slowly.
 */
export class Isolation {
  #partSize = Number.POSITIVE_INFINITY
  readonly #largest: number

  constructor(largest: number) {
    this.#largest = largest
  }

  get partSize(): number {
    return this.#partSize
  }

  failed(): void {
    this.#partSize = 1
  }

  succeeded(): void {
    this.#partSize *= 2
    if (this.#partSize >= this.#largest) this.#partSize = Number.POSITIVE_INFINITY
  }
}

/** More subtransactions than this in one transaction slow down a whole Postgres server. */
export const maxPartsPerTransaction = 60
