import type { ParkedFilter, Parking, StoredParkedMessage } from '../contracts/index.ts'

const pageSize = 1_000

/** All rows that fit, a page at a time: a selection may be larger than the memory. */
export async function* pagesOf<Tx>(
  parking: Pick<Parking<Tx>, 'list'>,
  filter: ParkedFilter,
): AsyncGenerator<readonly StoredParkedMessage[]> {
  let after: number | undefined
  while (true) {
    const page = await parking.list(filter, after === undefined ? { limit: pageSize } : { limit: pageSize, after })
    if (page.length > 0) yield page
    if (page.length < pageSize) return
    after = page.at(-1)?.sequence
  }
}
