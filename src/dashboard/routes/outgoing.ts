import { isOutgoing } from '../../encoding/outgoing-queue.ts'
import type { DelayedFilter } from '../../operations/index.ts'
import { fieldsOf, pageOf, placeIn } from '../input.ts'
import type { Route } from '../route.ts'

/** Messages that were published and have not left. Those that a destination has refused for good are dead letters. */
export const outgoingRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: 'api/outgoing',
    needs: 'read',
    shared: true,
    async run({ operations }) {
      const refused = Object.entries(await operations.letters.counts()).filter(([name]) => isOutgoing(name))
      return {
        waiting: await operations.outgoing.waiting(),
        refused: refused.map(([name, dead]) => ({ name, dead })),
      }
    },
  },
  {
    method: 'GET',
    path: 'api/outgoing/delayed',
    needs: 'read',
    async run({ operations, query, shown }) {
      const delayed = await operations.outgoing.delayed(
        fieldsOf(query, ['id', 'type', 'businessId']) as DelayedFilter,
        pageOf(query),
      )
      return delayed.map(({ body, headers, ...rest }) => ({
        ...rest,
        headers: shown.headers(headers),
        body: shown.body(body, { of: 'message', handler: rest.destination, type: rest.type, headers }),
      }))
    },
  },
  {
    method: 'GET',
    path: 'api/outgoing/waiting',
    needs: 'read',
    async run({ operations, query, shown }) {
      const waiting = await operations.outgoing.list(query.get('destination') ?? '', placeIn(query))
      return waiting.map((message) => shown.outgoing(message))
    },
  },
  {
    method: 'POST',
    path: 'api/outgoing/cancel',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      return { cancelled: await operations.outgoing.cancel(given.id as string, signed(given)) }
    },
  },
]
