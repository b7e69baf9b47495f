import type { Delivery } from '../../contracts/index.ts'
import type { BatchResult } from '../batch-result.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import { type HoldsBack, type SuspicionOf, sortOut } from '../intake/sort-out.ts'
import { handleItems } from './handle-items.ts'

/**
 * Handles deliveries so that each takes effect exactly once: together in one transaction while all goes well, in parts
 * once something has failed, and each alone when the store reports a conflict. A run that fails alongside others is run again
 * alone, and only a failure alone counts. If positions are kept in the store, a partition is always handled completely up
 * to some position: nothing in it is left out, and a message with several handlers is one transaction.
 * Resolves when every delivery is committed and acknowledged, or is listed in the result as not handled. If the store is
 * unavailable, the result says so. The caller then keeps what is not settled and calls again with it: deliveries that were
 * committed but not acknowledged then show up as duplicates.
 */
export async function handleDeliveries<Tx>(
  engine: Engine<Tx>,
  feed: Feed,
  deliveries: readonly Delivery[],
  suspicionOf: SuspicionOf = () => ({}),
  holdsBack?: HoldsBack,
): Promise<BatchResult> {
  return await handleItems(engine, feed, await sortOut(engine, feed, deliveries, suspicionOf, holdsBack))
}
