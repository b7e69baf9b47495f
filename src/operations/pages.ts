import type { ParkedFilter, Parking, StoredParkedMessage } from '../contracts/index.ts'

const pageSize = 1_000
/** However few letters that are. */
export const mostBytes = 16 * 1_048_576

/** All rows that fit, a page at a time: a selection may be larger than the memory. */
export async function* pagesOf<Tx>(
  parking: Pick<Parking<Tx>, 'list'>,
  filter: ParkedFilter,
): AsyncGenerator<readonly StoredParkedMessage[]> {
  for (let after = 0; ; ) {
    const page = await parking.list(filter, { limit: pageSize, after, maxBytes: mostBytes })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    after = last.sequence
  }
}
