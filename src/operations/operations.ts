import { systemClock } from '../clock/index.ts'
import type { Store } from '../contracts/index.ts'
import { listAlerts } from './alerts.ts'
import { auditedActions } from './audit.ts'
import { findMessages } from './find-messages.ts'
import { forgetRecord } from './forget-record.ts'
import { handlerOperations } from './handlers.ts'
import { intentOperations } from './intents.ts'
import { letterOperations } from './letters.ts'
import { messageStory } from './message-story.ts'
import { noHandlers } from './no-handlers.ts'
import { outgoingOperations } from './outgoing.ts'
import { listQueue } from './outgoing-messages.ts'
import { listProcesses, overview } from './overview.ts'
import { reservationOperations } from './reservations.ts'
import { retryOperations } from './retries.ts'
import { scheduleOperations } from './schedules.ts'
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
  const { clock = systemClock, handlers = noHandlers(clock), changed = () => {}, ownReport } = app
  const site: Site<Tx> = { store, clock, handlers, changed, ownReport }
  return {
    letters: letterOperations(site),
    retries: retryOperations(site),
    outgoing: outgoingOperations(site),
    schedules: scheduleOperations(site),
    intents: intentOperations(site),
    records: {
      find: async (key) => await (await store.inbox.find([checkKey(key)]))[0],
      forget: async (key, whoAndWhy) => await forgetRecord(site, key, whoAndWhy),
    },
    handlers: handlerOperations(site),
    messages: {
      find: async (filter, page) => await findMessages(site, filter, page),
      queued: async (queue, page = {}) => await listQueue(store, queue, page),
      story: async (id) => await messageStory(site, id),
    },
    processes: async () => await listProcesses(site),
    overview: async (options) => await overview(site, options),
    alerts: async () => await listAlerts(store),
    reservations: reservationOperations(store as never),
    audit: (limit) => auditedActions(store, limit),
  }
}
