import type { RecordKey } from '../../contracts/index.ts'
import type { LetterFilter, LetterSelection, Operations, Page, ParkedView, WhoAndWhy } from '../../operations/index.ts'
import { filterFrom, pageOf, selectionFrom } from '../input.ts'
import type { Route } from '../route.ts'

/** What can be done with dead letters as well as with waiting messages. */
interface ParkedOperations {
  list(filter: LetterFilter, page: Page): Promise<readonly ParkedView[]>
  get(key: RecordKey): Promise<ParkedView | undefined>
  discard(selection: LetterSelection, whoAndWhy: WhoAndWhy): Promise<number>
}

/** The routes that both have, below their own path. */
export function parkedRoutes(path: string, of: (operations: Operations) => ParkedOperations): readonly Route[] {
  return [
    {
      method: 'GET',
      path: `api/${path}`,
      needs: 'read',
      async run({ operations, query, shown }) {
        return (await of(operations).list(filterFrom(query), pageOf(query))).map((row) => shown.row(row))
      },
    },
    {
      method: 'GET',
      path: `api/${path}/one`,
      needs: 'read',
      async run({ operations, query, shown }) {
        const row = await of(operations).get(keyFrom(query))
        return row && shown.parked(row)
      },
    },
    {
      method: 'POST',
      path: `api/${path}/discard`,
      needs: 'operate',
      async run({ operations, input, signed }) {
        const given = await input()
        return { discarded: await of(operations).discard(selectionFrom(given.selection), signed(given)) }
      },
    },
  ]
}

function keyFrom(query: URLSearchParams): RecordKey {
  return { handler: query.get('handler') ?? '', key: query.get('key') ?? '' }
}
