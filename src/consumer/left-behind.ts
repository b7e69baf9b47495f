import type { Delivery } from '../contracts/index.ts'
import type { BatchResult } from '../engine/batch-result.ts'
import { affinityOf } from '../engine/order/chain.ts'
import type { LeftFor } from './chains.ts'

/** What is left of a batch, and how long each delivery must wait before it is retried. */
export function leftBehind(
  { again, held, stuck, stopped }: BatchResult,
  { heldMs, stoppedMs }: { readonly heldMs: number; readonly stoppedMs: number },
): LeftFor {
  if (again.length + held.length + stopped.length === 0) return () => undefined
  const pauses = new Map<Delivery, number>()
  for (const delivery of again) pauses.set(delivery, 0)
  for (const delivery of held) pauses.set(delivery, stuck.get(delivery)?.pauseMs ?? heldMs)
  for (const delivery of stopped) pauses.set(delivery, stoppedMs)
  return (delivery) => pauses.get(delivery)
}

/** Removes the deliveries that must not overtake what earlier segments have left; they are left too. */
export function withoutFollowers(
  deliveries: readonly Delivery[],
  { again, held, stopped }: BatchResult,
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
