import type { FoundMessage, MessageFilter, MessageState } from '../../operations/index.ts'
import { UsageError } from '../command.ts'
import { type Desk, operatorCommand } from '../operator-command.ts'
import { agoOf, timeOf } from '../output/wording.ts'
import { queuedText, queuePageFrom, queuePageOptions } from '../queued-text.ts'
import { pageFrom, pageOptions } from '../selection-options.ts'
import { nowhereText } from './nowhere-text.ts'
import { storyText } from './story-text.ts'

export const messagesCommand = operatorCommand(
  { name: 'messages', summary: 'finds messages, tells the story of one, or forgets that one was processed' },
  {
    name: 'find',
    summary: 'finds messages by what is known of them',
    about:
      'Finds messages that run, wait or are dead by any of these, and processed ones by --id or --key:\ntheir records have no other index. Messages in queues of the store and on their way out are found by --id,\n--business-id or --state, of each queue and destination among the 1,000 oldest.',
    options: {
      id: { kind: 'text', value: 'id', text: 'with this message id' },
      key: { kind: 'text', value: 'key', text: 'with this key: the id, or what identify() made of the message' },
      'business-id': {
        kind: 'text',
        value: 'id',
        text: 'about this, such as an order: what businessId of the app found',
      },
      type: { kind: 'text', value: 'type', text: 'of this type' },
      handler: { kind: 'text', value: 'name', text: 'of this handler' },
      state: {
        kind: 'text',
        value: 'state',
        text: 'running, waiting, dead, queued, outgoing, processed, expired or discarded',
      },
      error: { kind: 'text', value: 'text', text: 'with this text in an error' },
      since: { kind: 'date', text: 'at that time or later: a time, or an age such as 2h' },
      before: { kind: 'date', text: 'before that' },
      ...pageOptions,
    },
    async run(desk) {
      const found = await desk.operations.messages.find(filterOf(desk), pageFrom(desk.given))
      const hint = isCut(desk, found) ? onlyFirst : ''
      desk.show(found, () => (found.length === 0 ? 'No message was found.\n' : foundText(desk, found) + hint))
      return found.length === 0 ? 1 : 0
    },
  },
  {
    name: 'queued',
    summary: 'lists everything that is in a queue of the store',
    takes: ['queue'],
    options: queuePageOptions,
    async run(desk) {
      const [queue = ''] = desk.given.args
      const queued = await desk.operations.messages.queued(queue, queuePageFrom(desk.given))
      desk.show(queued, () => (queued.length === 0 ? `Nothing is in ${queue}.\n` : queuedText(desk, queued)))
      return queued.length === 0 ? 1 : 0
    },
  },
  {
    name: 'show',
    summary: 'tells everything that is known of one message',
    takes: ['id'],
    async run(desk) {
      const [id = ''] = desk.given.args
      const story = await desk.operations.messages.story(id)
      const nowhere = story === undefined ? await nowhereText(desk, id) : ''
      desk.show(story ?? null, () => (story === undefined ? nowhere : storyText(story)))
      return story === undefined ? 1 : 0
    },
  },
  {
    name: 'forget',
    summary: 'removes the record of a processed message: its next copy runs again',
    takes: ['handler', 'key'],
    changes: true,
    asks: true,
    async run({ operations, given, signed, show, confirm }) {
      const [handler = '', key = ''] = given.args
      await confirm(`The next copy of ${key} will run again in ${handler}. Forget it?`)
      const isForgotten = await operations.records.forget({ handler, key }, signed)
      show({ handler, key, forgotten: isForgotten }, () =>
        isForgotten ? 'It is forgotten.\n' : 'There was no record of it.\n',
      )
      return isForgotten ? 0 : 1
    },
  },
)

const states: readonly string[] = [
  'running',
  'waiting',
  'dead',
  'queued',
  'outgoing',
  'processed',
  'expired',
  'discarded',
]

function filterOf({ given }: Desk): MessageFilter {
  const state = given.text('state')
  if (state !== undefined && !states.includes(state)) throw new UsageError(`--state is one of ${states.join(', ')}.`)
  const text = (name: string): string | undefined => given.text(name)
  const filter = {
    id: text('id'),
    key: text('key'),
    businessId: text('business-id'),
    type: text('type'),
    handler: text('handler'),
    errorText: text('error'),
  }
  return {
    ...filter,
    state: state as MessageState | undefined,
    since: given.date('since'),
    before: given.date('before'),
  }
}

const onlyFirst =
  'These are only the first. messages queued lists a whole queue, and outgoing list --waiting what waits for a destination.\n'

/** Queues are not in pages here: what did not fit would be missed without a word. */
function isCut({ given }: Desk, found: readonly FoundMessage[]): boolean {
  const isQueue = ['queued', 'outgoing'].includes(given.text('state') ?? '')
  return isQueue && found.length >= pageFrom(given).limit
}

export function foundText(desk: Pick<Desk, 'table'>, found: readonly FoundMessage[]): string {
  return desk.table(found, [
    { title: 'place', of: ({ sequence }) => sequence },
    { title: 'state', of: ({ state }) => state },
    { title: 'handler', of: ({ handler }) => handler, cut: true },
    { title: 'key', of: ({ key }) => key, cut: true },
    { title: 'type', of: ({ type }) => type, cut: true, spare: true },
    { title: 'tries', of: ({ attempts }) => attempts },
    { title: 'at', of: ({ at }) => timeOf(at), short: ({ at }) => agoOf(at) },
    { title: 'why', of: ({ reason, error }) => error ?? reason, cut: true },
  ])
}
