import type { Delivery } from '../contracts/index.ts'

/** What became of a set of deliveries: which are settled, and which the caller must still deal with. */
export interface BatchResult {
  /** Not begun. The next batch must handle these before anything that arrived later. */
  readonly again: Delivery[]
  /** Another process holds the claim and does not finish. Retry these later, and let other messages continue. */
  readonly held: Delivery[]
  /**
   * The held deliveries that can be neither handled nor parked although the store answers: how long to wait before
   * retrying them, and why.
   */
  readonly stuck: Map<Delivery, { readonly pauseMs: number; readonly error: unknown }>
  /** One of their handlers fails on every message. Retry these when its breaker admits messages again. */
  readonly stopped: Delivery[]
  /** The store is unavailable. Everything that is not settled must be handled again when the store is back. */
  down: { readonly error: unknown } | undefined
  /** How often a conflict rolled the batch back. A reason to make the next batch smaller. */
  conflicts: number
  /** How often a failure rolled the batch back, so that all of it ran again. */
  failures: number
  /** How much of the time was spent on opening, claiming, committing and acknowledging rather than on handlers. */
  overheadMs: number
  /** Runs and deliveries that are finished, and neither failed nor waiting. */
  wentWell: number
  /** Settled deliveries, including duplicates. They must not be settled again. */
  readonly settled: Delivery[]
  /** Settled deliveries whose partition now belongs to another process. They were not handled here. */
  readonly lost: Delivery[]
  /** `afterCommit` hooks that are still running. */
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
    failures: 0,
    overheadMs: 0,
    wentWell: 0,
    settled: [],
    lost: [],
    background: [],
  }
}

/** Adds the result of a later call to `total`. */
export function addResult(total: BatchResult, more: BatchResult): void {
  for (const list of ['again', 'held', 'stopped', 'settled', 'lost'] as const) total[list].push(...more[list])
  for (const [delivery, why] of more.stuck) total.stuck.set(delivery, why)
  total.background.push(...more.background)
  total.down ??= more.down
  total.conflicts += more.conflicts
  total.failures += more.failures
  total.overheadMs += more.overheadMs
  total.wentWell += more.wentWell
}
