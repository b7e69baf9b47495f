import type { Delivery } from '../contracts/index.ts'
import type { Report } from '../engine/report.ts'
import { affinityOf } from './taking-order.ts'

/** Deliveries that a batch has not handled, in the order in which they came. */
export interface LeftBehind {
  /** What they wait for shares this with them; not given: they are to be handled next. */
  readonly affinity: string | Delivery | undefined
  readonly deliveries: readonly Delivery[]
  readonly pauseMs: number
}

/**
 * What is left of a batch, and what of it has to wait. What shares a key, or a lane of the transport, with something that
 * waits does so with it; other things go on.
 */
export function leftBehind(
  batch: readonly Delivery[],
  { again, held, stopped }: Report,
  { heldMs, stoppedMs }: { readonly heldMs: number; readonly stoppedMs: number },
): LeftBehind[] {
  if (again.length + held.length + stopped.length === 0) return []
  const pauses = new Map<string | Delivery, number>()
  for (const delivery of held) pauses.set(asideOf(delivery), heldMs)
  for (const delivery of stopped) pauses.set(asideOf(delivery), stoppedMs)
  const left = new Set([...again, ...held, ...stopped])
  const inOrder = Map.groupBy(
    batch.filter((delivery) => left.has(delivery)),
    (delivery) => (pauses.has(asideOf(delivery)) ? asideOf(delivery) : undefined),
  )
  return [...inOrder].map(([affinity, deliveries]) => ({
    affinity,
    deliveries,
    pauseMs: affinity === undefined ? 0 : (pauses.get(affinity) ?? 0),
  }))
}

/** A delivery that shares nothing with others is set aside by itself. */
function asideOf(delivery: Delivery): string | Delivery {
  return affinityOf(delivery) ?? delivery
}

/** Those that must not overtake what the segments before have left; they are left with it. */
export function withoutFollowers(
  deliveries: readonly Delivery[],
  { again, held, stopped }: Report,
): readonly Delivery[] {
  const left = [again, held, stopped].filter((list) => list.length > 0)
  if (left.length === 0) return deliveries
  const leftBefore = left.map((list) => ({ list, affinities: new Set(list.map(affinityOf)) }))
  return deliveries.filter((delivery) => {
    const affinity = affinityOf(delivery)
    const before = affinity === undefined ? undefined : leftBefore.find(({ affinities }) => affinities.has(affinity))
    before?.list.push(delivery)
    return before === undefined
  })
}
