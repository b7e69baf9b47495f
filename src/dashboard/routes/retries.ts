import { filterFrom, pageOf, selectionFrom } from '../input.ts'
import type { Route } from '../route.ts'
import { keyFrom } from './letters.ts'

/** Messages that wait for another attempt. */
export const retryRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: 'api/waiting',
    needs: 'read',
    async run({ operations, query, shown }) {
      return (await operations.retries.list(filterFrom(query), pageOf(query))).map((retry) => shown.row(retry))
    },
  },
  {
    method: 'GET',
    path: 'api/waiting/one',
    needs: 'read',
    async run({ operations, query, shown }) {
      const retry = await operations.retries.get(keyFrom(query))
      return retry && shown.parked(retry)
    },
  },
  {
    method: 'POST',
    path: 'api/waiting/run-now',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      return { due: await operations.retries.retryNow(selectionFrom(given.selection), signed(given)) }
    },
  },
  {
    method: 'POST',
    path: 'api/waiting/discard',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      return { discarded: await operations.retries.discard(selectionFrom(given.selection), signed(given)) }
    },
  },
]
