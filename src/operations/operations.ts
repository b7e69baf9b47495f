import { systemClock } from '../clock/index.ts'
import type { Store } from '../contracts/index.ts'
import { auditedActions } from './audit.ts'
import { forgetRecord } from './forget-record.ts'
import { letterOperations } from './letters.ts'
import { noHandlers } from './no-handlers.ts'
import { outgoingOperations } from './outgoing.ts'
import { retryOperations } from './retries.ts'
import { checkKey } from './selection.ts'
import type { Site } from './site.ts'
import type { Operations } from './types.ts'

/**
 * What operators ask and do. It needs only the store: no handlers, no transport, no running app.
 *
 * ```ts
 * const { letters } = operations(postgresStore({ pool }))
 * for (const letter of await letters.list({ handler: 'tag-note' })) console.log(letter.key, letter.reason)
 * ```
 */
export function operations<Tx>(store: Store<Tx>, app: Partial<Omit<Site<Tx>, 'store'>> = {}): Operations {
  const { clock = systemClock, handlers = noHandlers(clock), changed = () => {} } = app
  const site: Site<Tx> = { store, clock, handlers, changed }
  return {
    letters: letterOperations(site),
    retries: retryOperations(site),
    outgoing: outgoingOperations(store),
    records: {
      find: async (key) => await (await store.inbox.find([checkKey(key)]))[0],
      forget: async (key, whoAndWhy) => await forgetRecord(site, key, whoAndWhy),
    },
    audit: (limit) => auditedActions(store, limit),
  }
}
