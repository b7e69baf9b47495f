import type { IntentFilter, Resolution } from '../../operations/index.ts'
import { fieldsOf, pageOf } from '../input.ts'
import type { Route } from '../route.ts'

/** Calls outside that have not ended. */
export const intentRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: 'api/intents',
    needs: 'read',
    async run({ operations, query, shown }) {
      const filter = fieldsOf(
        query,
        ['effect', 'state', 'key', 'idempotencyKey', 'businessId'],
        ['since', 'before'],
      ) as IntentFilter
      const only = query.get('needsPerson') === 'true' ? { needsPerson: true } : {}
      return (await operations.intents.list({ ...filter, ...only }, pageOf(query))).map((intent) => {
        const { payload: _, errors, ...rest } = shown.intent(intent)
        return { ...rest, error: errors.at(-1)?.message }
      })
    },
  },
  {
    method: 'GET',
    path: 'api/intents/counts',
    needs: 'read',
    shared: true,
    run: async ({ operations }) => await operations.intents.counts(),
  },
  {
    method: 'GET',
    path: 'api/intents/one',
    needs: 'read',
    async run({ operations, query, shown }) {
      const key = { effect: query.get('effect') ?? '', key: query.get('key') ?? '' }
      const intent = await operations.intents.get(key)
      if (intent === undefined) return undefined
      const reservation = await operations.reservations.get(intent.idempotencyKey)
      return { ...shown.intent(intent), reservation }
    },
  },
  {
    method: 'POST',
    path: 'api/intents/resolve',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      const key = { effect: given.effect as string, key: given.key as string }
      await operations.intents.resolve(key, given.resolution as Resolution, signed(given))
      return {}
    },
  },
]
