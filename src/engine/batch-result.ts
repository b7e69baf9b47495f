import type { Delivery } from '../contracts/index.ts'

/** What has become of deliveries: what is settled, and what is left to the caller. */
export interface BatchResult {
  /** Not begun: to be handled with the next batch, before anything that came later. */
  readonly again: Delivery[]
  /** A rival holds their claim and does not finish: to be tried later, while others go on. */
  readonly held: Delivery[]
  /**
   * Those of the held that can be neither handled nor kept although the store answers: how long to wait before they are
   * tried again, and why.
   */
  readonly stuck: Map<Delivery, { readonly pauseMs: number; readonly error: unknown }>
  /** A handler of theirs is failing on everything: to be tried when its breaker lets something through. */
  readonly stopped: Delivery[]
  /** The store is unavailable: whatever is not settled is to be handled again when it is back. */
  down: { readonly error: unknown } | undefined
  /** How often the batch was undone by a conflict: a reason to make the next one smaller. */
  conflicts: number
  /** Runs and deliveries that are done with, but neither failed nor waiting. */
  wentWell: number
  /** Settled, duplicates included: they must not be settled again. */
  readonly settled: Delivery[]
  /** Those of the settled ones that belong to somebody else now: nothing has become of them here. */
  readonly lost: Delivery[]
  /** Hooks that are still running. */
  readonly background: Promise<void>[]
}

export function emptyResult(): BatchResult {
  return {
    again: [],
    held: [],
    stuck: new Map(),
    stopped: [],
    down: undefined,
    conflicts: 0,
    wentWell: 0,
    settled: [],
    lost: [],
    background: [],
  }
}

/** Of what was handled one after the other. */
export function addResult(total: BatchResult, more: BatchResult): void {
  for (const list of ['again', 'held', 'stopped', 'settled', 'lost'] as const) total[list].push(...more[list])
  for (const [delivery, why] of more.stuck) total.stuck.set(delivery, why)
  total.background.push(...more.background)
  total.down ??= more.down
  total.conflicts += more.conflicts
  total.wentWell += more.wentWell
}
