import type { Store } from '../contracts/index.ts'
import { checkOptions } from '../errors/index.ts'
import { cancelDelayed } from '../operations/index.ts'
import type { Destinations } from '../outgoing/destinations.ts'

/** `app.cancel`: in the caller's transaction, or in one of its own. */
export async function cancelPublished(
  store: Store,
  destinations: Pick<Destinations, 'checkOpen'>,
  id: string,
  given: { readonly tx?: unknown } = {},
): Promise<boolean> {
  checkOptions(given, ['tx'], 'cancel()')
  if (given.tx === undefined) return await store.transaction((tx) => cancelDelayed(store, tx, id))
  await destinations.checkOpen(given.tx)
  return await cancelDelayed(store, given.tx, id)
}
