import type { Store, StoredParkedMessage } from '../contracts/index.ts'
import { checkOptions } from '../errors/index.ts'
import { decideFilter } from './letter-filter.ts'
import { mostBytes } from './pages.ts'
import { withRunningMarks } from './redrives.ts'
import type { LetterFilter, Page } from './types.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

/** One page of dead or waiting messages. */
export async function listRows<Tx>(
  store: Pick<Store<Tx>, 'parking' | 'facts'>,
  state: StoredParkedMessage['state'],
  filter: LetterFilter,
  page: Page,
): Promise<readonly StoredParkedMessage[]> {
  checkOptions(page, ['limit', 'after'], 'The page of a list')
  const { limit = 100, after = 0 } = page
  checkWhole(limit, 'limit', 1, mostListed)
  checkWhole(after, 'after', 0, Number.MAX_SAFE_INTEGER)
  const rows = await store.parking.list(decideFilter(filter, state), { limit, after, maxBytes: mostBytes })
  return await withRunningMarks(store, rows)
}
