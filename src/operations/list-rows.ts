import type { Parking, StoredParkedMessage } from '../contracts/index.ts'
import { checkOptions } from '../errors/index.ts'
import { decideFilter } from './letter-filter.ts'
import { mostBytes } from './pages.ts'
import { checkWhole, mostListed } from './signature.ts'
import type { LetterFilter, Page } from './types.ts'

/** One page of what is dead, or of what waits. */
export async function listRows<Tx>(
  parking: Parking<Tx>,
  state: StoredParkedMessage['state'],
  filter: LetterFilter,
  page: Page,
): Promise<readonly StoredParkedMessage[]> {
  checkOptions(page, ['limit', 'after'], 'The page of a list')
  const { limit = 100, after = 0 } = page
  checkWhole(limit, 'limit', 1, mostListed)
  checkWhole(after, 'after', 0, Number.MAX_SAFE_INTEGER)
  return await parking.list(decideFilter(filter, state), { limit, after, maxBytes: mostBytes })
}
