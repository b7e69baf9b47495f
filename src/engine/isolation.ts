/**
 * How many calls share one part (savepoint) of a transaction. A part costs a round trip, so while nothing fails a whole
 * batch shares one and pays nothing. A part that fails is run again: the more failures, the smaller the parts. Their
 * size grows back slowly.
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

  /** `share` of the calls have failed. Parts of the root of one call in so many cost least in boundaries and re-runs. */
  failed(share: number): void {
    this.#partSize = Math.max(1, Math.min(Math.round(Math.sqrt(1 / share)), this.#largest))
  }

  succeeded(): void {
    this.#partSize *= 2
    if (this.#partSize >= this.#largest) this.#partSize = Number.POSITIVE_INFINITY
  }
}

/** More subtransactions than this in one transaction slow down a whole Postgres server. */
export const maxPartsPerTransaction = 60
