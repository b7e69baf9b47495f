import type { Delivery } from '../../contracts/index.ts'
import type { BatchResult } from '../batch-result.ts'
import type { Engine } from '../engine.ts'
import { type HoldsBack, type SuspicionOf, sortOut } from '../intake/sort-out.ts'
import type { Source } from '../source.ts'
import { handleItems } from './handle-items.ts'

/**
 * Handles deliveries so that each takes effect exactly once: together in one transaction while all goes well, in parts
 * once something has failed, each alone when the store reports a conflict. What fails beside others is run alone, and only
 * a failure alone is one. Where positions are kept in the store, what was handled of a partition is always all of it up to
 * some position: nothing of it is left out, and a message with several handlers is one transaction.
 * Resolves when every delivery is committed and acknowledged or listed in the result as not handled. When the store is
 * unavailable, the result says so; the caller then keeps what is not settled, and calls again with it: what was committed
 * and could not be acknowledged shows as duplicates.
 */
export async function handleDeliveries<Tx>(
  engine: Engine<Tx>,
  source: Source,
  deliveries: readonly Delivery[],
  suspicionOf: SuspicionOf = () => ({}),
  holdsBack?: HoldsBack,
): Promise<BatchResult> {
  return await handleItems(engine, source, await sortOut(engine, source, deliveries, suspicionOf, holdsBack))
}
