import type { MessageInQueue, Store, StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'
import { destinationOf, isDelayed, isOutgoing, outgoingQueue, queueUnder } from '../encoding/outgoing-queue.ts'
import { purposeOf } from '../encoding/packed-message.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { checkOptions, JustonceError } from '../errors/index.ts'
import { checkText } from './letter-filter.ts'
import type { OutgoingPage, OutgoingView } from './outgoing-types.ts'
import { readableBody } from './readable-body.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

/** Of each destination. A queue has no index by what is in its messages, and normally almost nothing is in it. */
const mostLookedAt = 1_000
const mostBytes = 4 * 1_048_576

/** One page of what waits for a destination, in the order in which it was published. */
export async function listOutgoing<Tx>(
  store: Pick<Store<Tx>, 'name' | 'queue'>,
  destination: string,
  page: OutgoingPage,
): Promise<readonly OutgoingView[]> {
  checkText(destination, 'The destination')
  return await listQueue(store, outgoingQueue(destination), page)
}

/** One page of what is in a queue of the store. */
export async function listQueue<Tx>(
  { name, queue }: Pick<Store<Tx>, 'name' | 'queue'>,
  from: string,
  page: OutgoingPage,
): Promise<readonly OutgoingView[]> {
  checkText(from, 'The name of the queue')
  checkOptions(page, ['limit', 'after'], 'The page of a list')
  const { limit = 100, after } = page
  checkWhole(limit, 'limit', 1, mostListed)
  if (after !== undefined) checkPlace(after)
  if (queue?.list === undefined)
    throw new JustonceError('STORE_CANNOT', { message: `${name} cannot show what is in a queue.` })
  const listed = await queue.list(from, { limit, after, maxBytes: mostBytes })
  return listed.map((message) => describeQueued(from, message))
}

/** Stores make a number of it. */
function checkPlace(after: unknown): void {
  if (typeof after === 'string' && /^\d{1,17}([.:].{0,100})?$/.test(after)) return
  throw new JustonceError('OPTION_INVALID', {
    message: `after is ${JSON.stringify(after)}, not the place of a message in this list.`,
  })
}

/** Which queues are looked through: those of destinations, or those that apps read. */
type Kind = 'outgoing' | 'incoming'

/** Those that fit of the oldest of each queue, and whether those were all. */
export async function findInQueues<Tx>(
  { queue }: Pick<Store<Tx>, 'queue'>,
  kind: Kind,
  fits: (view: OutgoingView) => boolean,
): Promise<{ readonly found: readonly OutgoingView[]; readonly isAll: boolean }> {
  if (queue === undefined) return { found: [], isAll: true }
  const found: OutgoingView[] = []
  let isAll = true
  for (const name of await queue.queues()) {
    if (isOutgoing(name) !== (kind === 'outgoing')) continue
    const page = (await queue.list?.(name, { limit: mostLookedAt, maxBytes: mostBytes })) ?? []
    found.push(...page.map((message) => describeQueued(name, message)).filter(fits))
    const last = page.at(-1)
    const rest = last && (await queue.list?.(name, { limit: 1, after: last.ticket }))
    if (rest?.length !== 0) isAll = false
  }
  return { found, isAll }
}

/** A row of a message that waits for its time, or that its destination has refused. */
export function describeLeaving(row: StoredParkedMessage): OutgoingView {
  const { handler, key, messageId, type, parkedAt, attempts, message, businessId, errors } = row
  const { id = messageId, headers, body, key: orderKey } = unpackLetter(message)
  const isLater = isDelayed(handler)
  return {
    id,
    type,
    destination: named(queueUnder(handler)),
    key: orderKey,
    state: isLater ? 'delayed' : row.state === 'dead' ? 'refused' : 'waiting',
    publishedAt: parkedAt,
    attempts,
    dueAt: isLater ? row.nextAt : undefined,
    error: readErrorNotes(errors).at(-1)?.message,
    businessId,
    causedBy: causeIn(message),
    letter: { handler, key },
    headers,
    body: readableBody(body),
  }
}

export function describeQueued(queue: string, { ticket, deliveries, message, sentAt }: MessageInQueue): OutgoingView {
  const { id = '', type = '', key, headers, body } = unpackLetter(message)
  return {
    id,
    type,
    destination: named(queue),
    key,
    state: 'waiting',
    publishedAt: sentAt,
    attempts: deliveries,
    dueAt: undefined,
    ...purposeIn(message),
    place: ticket,
    headers,
    body: readableBody(body),
  }
}

const ofStore = 'queue:'

function named(queue: string): string {
  return isOutgoing(queue) ? destinationOf(queue) : ofStore + queue
}

/** The name of a queue of the store, of a message that is in one. */
export function queueOf({ destination }: OutgoingView): string {
  return destination.slice(ofStore.length)
}

export function causeIn(message: StoredParkedMessage['message']): OutgoingView['causedBy'] {
  return purposeIn(message).causedBy
}

/** What cannot be read must not hide the rest. */
function purposeIn(message: StoredParkedMessage['message']): Pick<OutgoingView, 'causedBy' | 'businessId'> {
  try {
    const { causedBy, businessId } = purposeOf(message)
    return { causedBy, businessId }
  } catch {
    return { causedBy: undefined, businessId: undefined }
  }
}
