import type { MessageFilter } from '../../operations/index.ts'
import { fieldsOf, pageOf, placeIn } from '../input.ts'
import type { Route } from '../route.ts'
import { shownSubject } from './monitoring.ts'

const texts = ['id', 'key', 'businessId', 'type', 'handler', 'state', 'errorText']

export const messageRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: 'api/messages',
    needs: 'read',
    async run({ operations, query }) {
      const filter = fieldsOf(query, texts, ['since', 'before']) as MessageFilter
      return await operations.messages.find(filter, pageOf(query))
    },
  },
  {
    method: 'GET',
    path: 'api/messages/queued',
    needs: 'read',
    async run({ operations, query, shown }) {
      const queued = await operations.messages.queued(query.get('queue') ?? '', placeIn(query))
      return queued.map((message) => shown.outgoing(message))
    },
  },
  {
    method: 'GET',
    path: 'api/messages/story',
    needs: 'read',
    async run({ operations, query, shown, access }) {
      const story = await operations.messages.story(query.get('id') ?? '')
      if (story === undefined) return undefined
      const mayBodies = access.may.includes('bodies')
      const actions = story.actions.map((each) => ({ ...each, subject: shownSubject(each.subject, mayBodies) }))
      return shown.story({ ...story, actions })
    },
  },
  {
    method: 'POST',
    path: 'api/records/forget',
    needs: 'operate',
    async run({ operations, input, signed }) {
      const given = await input()
      const key = { handler: given.handler as string, key: given.key as string }
      return { forgotten: await operations.records.forget(key, signed(given)) }
    },
  },
]
