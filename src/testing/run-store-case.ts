import { setTimeout as pause } from 'node:timers/promises'
import type { StoreCase, StoreCaseContext } from './store-case.ts'
import { unmetNeed } from './unmet-need.ts'

/** How a case has ended. */
export type CaseOutcome =
  | { readonly kind: 'passed' }
  /** The store lacks something that the case needs. */
  | { readonly kind: 'skipped'; readonly reason: string }

/** Opens a context for the case, runs the case in it and closes it again. Rejects if the store fails the case. */
export async function runStoreCase<Tx>(
  each: StoreCase,
  open: () => Promise<StoreCaseContext<Tx>>,
): Promise<CaseOutcome> {
  const context = await open()
  try {
    const reason = unmetNeed(each, context)
    if (reason === undefined) await each.run(context)
    await context.close()
    return reason === undefined ? { kind: 'passed' } : { kind: 'skipped', reason }
  } catch (error) {
    // A failed case may have left transactions open. Closing could then wait forever and hide the failure.
    await Promise.race([context.close().catch(() => {}), pause(500, undefined, { ref: false })])
    throw error
  }
}
