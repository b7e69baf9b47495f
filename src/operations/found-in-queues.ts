import type { Store } from '../contracts/index.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { outgoingQueue } from '../encoding/outgoing-queue.ts'
import type { FoundMessage, MessageFilter, MessageState } from './message-types.ts'
import { describeLeaving, findInQueues } from './outgoing-messages.ts'
import type { OutgoingView } from './outgoing-types.ts'
import { mostBytes } from './pages.ts'
import { mostListed } from './who-and-why.ts'

type Stored<Tx> = Pick<Store<Tx>, 'queue' | 'parking'>
type Wanted = Pick<MessageFilter, 'id' | 'businessId'>

/** Messages in queues of the store and on their way out. Only if asked for: a queue has no index by what is in its messages. */
export async function foundInQueues<Tx>(
  store: Stored<Tx>,
  { id, key, businessId, type, handler, state, errorText }: MessageFilter,
): Promise<readonly FoundMessage[]> {
  const isAsked = id !== undefined || businessId !== undefined || state === 'queued' || state === 'outgoing'
  if (!isAsked || key !== undefined || errorText !== undefined) return []
  const wanted = { id, businessId: businessId && fittedText(businessId) }
  const isWanted = (each: MessageState): boolean => (state ?? each) === each
  const found = [
    ...(isWanted('queued') ? await queuedOf(store, wanted) : []),
    ...(isWanted('outgoing') ? await leavingOf(store, wanted) : []),
  ]
  return found.filter((each) => (type ?? each.type) === each.type && (handler ?? each.handler) === each.handler)
}

async function queuedOf<Tx>(store: Stored<Tx>, wanted: Wanted): Promise<readonly FoundMessage[]> {
  const { found } = await findInQueues(store, 'incoming', (view) => fits(view, wanted))
  return found.map((view) => foundView(view, 'queued', view.destination))
}

async function leavingOf<Tx>(store: Stored<Tx>, wanted: Wanted): Promise<readonly FoundMessage[]> {
  const { found } = await findInQueues(store, 'outgoing', (view) => fits(view, wanted))
  const rows = {
    kind: 'delayed',
    messageId: wanted.id && fittedText(wanted.id),
    businessId: wanted.businessId,
  } as const
  const delayed = await store.parking.list(rows, { limit: mostListed, maxBytes: mostBytes })
  return [...found, ...delayed.map(describeLeaving)].map((view) =>
    foundView(view, 'outgoing', outgoingQueue(view.destination)),
  )
}

function fits(view: OutgoingView, { id, businessId }: Wanted): boolean {
  return (id ?? view.id) === view.id && (businessId ?? view.businessId) === view.businessId
}

function foundView(view: OutgoingView, state: 'queued' | 'outgoing', handler: string): FoundMessage {
  const { id: messageId, type, letter, businessId, publishedAt: at, attempts, dueAt: nextAt } = view
  return { handler, key: letter?.key ?? messageId, messageId, type, businessId, state, at, attempts, nextAt }
}
