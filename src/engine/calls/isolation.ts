import type { StoreCapabilities } from '../../contracts/index.ts'

/** The share of calls that fail is an average over about so many of the last calls; over fewer where it grows. */
const callsRemembered = { down: 1_000, up: 100 }

/** Where many fail, it is one over the calls among which about so many did: so it shows sooner that they no longer do. */
const failuresRemembered = 10

/** Fewer failures than one in so many batches are cheaper met by running a whole batch again than by parts in all others. */
const rareInBatches = 10

/**
 * How many calls share one part (savepoint) of a transaction. A part costs a round trip, so while hardly anything fails a
 * whole batch runs without, and pays nothing. A part that fails is run again: the more failures, the smaller the parts.
 */
export class Isolation {
  #share = 0
  readonly #largest: number

  constructor(largest: number) {
    this.#largest = largest
  }

  /** Parts of the root of one call in so many cost least in boundaries and re-runs. */
  get partSize(): number {
    if (this.#share === 0) return Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(Math.round(Math.sqrt(1 / this.#share)), this.#largest))
  }

  /** So many of a batch's calls have failed. More than before count soon, fewer little by little. */
  saw(failed: number, calls: number): void {
    if (calls === 0) return
    const difference = failed / calls - this.#share
    const { down, up } = callsRemembered
    const remembered = difference > 0 ? Math.min(up, this.#largest) : Math.min(down, failuresRemembered / this.#share)
    this.#share += difference * Math.min(this.#share === 0 ? 1 : 1 / 2, calls / remembered)
    // Never by a failure: whoever reports one is about to run the same batch again, in parts.
    if (failed === 0 && this.#share * this.#largest * rareInBatches < 1) this.#share = 0
  }
}

/**
 * How many parts a transaction may have. More subtransactions than this slow down a whole Postgres server; nobody else is
 * slowed down where there is one writer.
 */
export function mostPartsOn({ connections }: StoreCapabilities): number {
  return connections === 1 ? Number.POSITIVE_INFINITY : 60
}
