import { selectionFrom } from '../input.ts'
import type { Route } from '../route.ts'
import { parkedRoutes } from './parked.ts'

/** Messages that wait for another attempt. */
export const retryRoutes: readonly Route[] = [
  ...parkedRoutes('waiting', ({ retries }) => retries),
  {
    method: 'POST',
    path: 'api/waiting/run-now',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      return { due: await operations.retries.retryNow(selectionFrom(given.selection), signed(given)) }
    },
  },
]
