import type { StoreCapabilities } from '../../contracts/index.ts'

/** The share of failing calls is an average over about this many of the latest calls; fewer while the share grows. */
const callsRemembered = { down: 1_000, up: 100 }

/** If many calls fail, the average covers only the calls with about this many failures, so that a recovery shows sooner. */
const failuresRemembered = 10

/**
 * If fewer than one in this many batches has a failure, running a whole batch again is cheaper than using parts in all of
 * them.
 */
const rareInBatches = 10

/**
 * How many calls share one part (savepoint) of a transaction. A part costs a round trip, so while hardly anything fails,
 * a whole batch runs without parts. A part that fails is run again: the more failures, the smaller the parts.
 */
export class Isolation {
  #share = 0
  readonly #largest: number
  readonly #boundaryCost: number

  /** `travels`: boundaries travel with the statements that follow, so they cost work but no time to wait. */
  constructor(largest: number, { travels = false }: { readonly travels?: boolean | undefined } = {}) {
    this.#largest = largest
    this.#boundaryCost = travels ? 1 / 2 : 1
  }

  /** If one call in n fails, parts of √n calls cost the least in boundaries and re-runs; fewer if boundaries are cheap. */
  get partSize(): number {
    if (this.#share === 0) return Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(Math.round(Math.sqrt(this.#boundaryCost / this.#share)), this.#largest))
  }

  /** Notes how many of a batch's calls failed. An increase counts quickly, a decrease gradually. */
  saw(failed: number, calls: number): void {
    if (calls === 0) return
    const difference = failed / calls - this.#share
    const { down, up } = callsRemembered
    const remembered = difference > 0 ? Math.min(up, this.#largest) : Math.min(down, failuresRemembered / this.#share)
    this.#share += difference * Math.min(this.#share === 0 ? 1 : 1 / 2, calls / remembered)
    // Never reset it on a failure: the caller that reports one is about to run the same batch again, in parts.
    if (failed === 0 && this.#share * this.#largest * rareInBatches < 1) this.#share = 0
  }
}

/**
 * How many parts a transaction may have. More subtransactions than this slow down a whole Postgres server. A store with a
 * single connection has no other writers to slow down.
 */
export function mostPartsOn({ connections }: StoreCapabilities): number {
  return connections === 1 ? Number.POSITIVE_INFINITY : 60
}
