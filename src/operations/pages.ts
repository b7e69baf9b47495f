import type { ParkedFilter, Store, StoredParkedMessage } from '../contracts/index.ts'
import { withRunningMarks } from './redrives.ts'

const pageSize = 1_000
/** The size limit of a page, however few rows that allows. */
export const mostBytes = 16 * 1_048_576

/** All rows that match, one page at a time: a selection may be larger than the memory. */
export async function* pagesOf<Tx>(
  store: Pick<Store<Tx>, 'parking' | 'facts'>,
  filter: ParkedFilter,
): AsyncGenerator<readonly StoredParkedMessage[]> {
  for (let after = 0; ; ) {
    const page = await store.parking.list(filter, { limit: pageSize, after, maxBytes: mostBytes })
    const last = page.at(-1)
    if (last === undefined) return
    yield await withRunningMarks(store, page)
    after = last.sequence
  }
}
