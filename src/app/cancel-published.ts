import type { Store } from '../contracts/index.ts'
import { checkOptions } from '../errors/index.ts'
import { cancelDelayed } from '../operations/index.ts'
import type { Destinations } from '../outgoing/destinations.ts'

/**
 * `app.cancel`: in the caller's transaction, or in one of its own. Only what goes to destinations of this app: another app on the same
 * database may use the same ids.
 */
export async function cancelPublished(
  store: Store,
  destinations: Pick<Destinations, 'checkOpen' | 'ownDelayedNames'>,
  id: string,
  given: { readonly tx?: unknown } = {},
): Promise<boolean> {
  checkOptions(given, ['tx'], 'cancel()')
  const names = destinations.ownDelayedNames
  if (given.tx === undefined) return await store.transaction((tx) => cancelDelayed(store, tx, id, names))
  await destinations.checkOpen(given.tx)
  return await cancelDelayed(store, given.tx, id, names)
}
