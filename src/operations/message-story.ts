import type { InboxRecord, StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { isIntent } from '../encoding/intent-name.ts'
import { isDelayed, isForQueue } from '../encoding/outgoing-queue.ts'
import { recordKeyOf } from '../encoding/record-key.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { listDuplicates, listPauses, type Pause, type ReceivedReport } from '../facts/index.ts'
import { auditedActions } from './audit.ts'
import { findRecords, foundRecord, foundRow } from './find-messages.ts'
import { knownNames } from './known-names.ts'
import { checkText } from './letter-filter.ts'
import type { HandlerStory, MessageState, MessageStory } from './message-types.ts'
import { causeIn, describeLeaving, findInQueues, queueOf } from './outgoing-messages.ts'
import type { OutgoingView } from './outgoing-types.ts'
import { mostBytes } from './pages.ts'
import { readableBody } from './readable-body.ts'
import { listRedrives, withRunningMarks } from './redrives.ts'
import { reportsOf } from './reports.ts'
import { nameOf } from './selection.ts'
import type { Site } from './site.ts'
import { stillRunning } from './still-running.ts'
import type { AuditedAction, Redrive } from './types.ts'
import { mostListed } from './who-and-why.ts'

/** Why something was not processed is read first. */
const urgency: readonly MessageState[] = ['dead', 'waiting', 'running', 'expired', 'discarded', 'processed']

/** Everything that rows, records and heartbeats know of one message. */
export async function messageStory<Tx>(
  site: Pick<Site<Tx>, 'store' | 'ownReport'>,
  id: string,
): Promise<MessageStory | undefined> {
  checkText(id, 'id')
  const { store } = site
  const rows = await rowsWith(site, id)
  const ofHandlers = rows.filter(({ handler }) => !isIntent(handler) && !isDelayed(handler))
  const reports = await reportsOf(site)
  const duplicates = (await listDuplicates(store)).filter(({ messageId, key }) => messageId === id || key === id)
  const reported = reports.flatMap((report) => callsOf(report, id))
  const isRunning = new Set(
    await stillRunning(
      site,
      reported.map(({ call }) => call),
    ),
  )
  const running = reported.filter(({ call }) => isRunning.has(call))
  const keys = new Set([
    id,
    ...ofHandlers.map(({ key }) => recordKeyOf(key)),
    ...duplicates.map(({ key }) => key),
    ...running.map(({ call }) => call.key),
  ])
  // Those of an app that has never been started with this version are known from what it says of duplicates only.
  const names = new Set([...(await knownNames(site, reports)), ...duplicates.map(({ handler }) => handler)])
  const records = await findRecords(site, [...names], [...keys])
  const pauses = new Map((await listPauses(store)).map((pause) => [pause.handler, pause]))
  const redrives = ofHandlers.some(({ redrive }) => redrive !== undefined) ? await listRedrives(store, mostListed) : []
  const stories = new Map<string, HandlerStory>()
  for (const { record, ...of } of records) stories.set(nameOf(of), recordStory(of, record, id))
  for (const row of ofHandlers) {
    // The record of a parked message says less than its row.
    stories.delete(nameOf({ handler: row.handler, key: recordKeyOf(row.key) }))
    stories.set(nameOf(row), { ...rowStory(row, pauses, redrives), behind: await headOf(site, row) })
  }
  for (const { call, process, host, pid, type } of running) {
    const known = stories.get(nameOf(call))
    const { handler, key, messageId, since: at, attempt: attempts } = call
    const found = { handler, key, messageId, type, at, attempts, errors: [], ...known, state: 'running' as const }
    stories.set(nameOf(call), { ...found, running: { ...call, process, host, pid } })
  }
  const causes = new Set([...keys, ...[...stories.values()].map(({ key }) => key)])
  const caused = await causedRows(site, causes)
  const intents = [...rows, ...caused].filter(({ handler }) => isIntent(handler))
  // One look at what waits finds both: what this message has caused, and itself.
  const leaving = await findInQueues(store, 'outgoing', (view) => view.id === id || isCausedBy(view, causes))
  const itself = leaving.found.find((view) => view.id === id)
  // What a handler has begun was taken from its queue: there is no need to look through that again and again.
  const isUnknown = itself === undefined && stories.size === 0
  const [queued] = isUnknown ? (await findInQueues(store, 'incoming', (view) => view.id === id)).found : []
  const outgoing = [
    ...caused.filter(({ handler }) => isForQueue(handler)).map(describeLeaving),
    ...leaving.found,
  ].filter((view) => isCausedBy(view, causes))
  const known = [stories.size, rows.length, duplicates.length, intents.length, outgoing.length]
  const view = itself ?? queued
  if (view === undefined && known.every((length) => length === 0)) return undefined
  const [row] = [...ofHandlers, ...rows]
  return {
    id,
    type: row?.type ?? duplicates[0]?.type ?? running[0]?.type ?? view?.type,
    source: sourceOf(row) ?? duplicates[0]?.source,
    businessId: row?.businessId ?? view?.businessId,
    causedBy: row && isForQueue(row.handler) ? causeIn(row.message) : view?.causedBy,
    message: row ? contentOf(row) : view && { headers: view.headers, body: view.body, edited: false },
    handlers: [...stories.values()].sort((a, b) => urgency.indexOf(a.state) - urgency.indexOf(b.state)),
    intents: intents.map(foundRow),
    outgoing,
    isOutgoingComplete: leaving.isAll,
    waitsFor: itself && { destination: itself.destination, since: itself.publishedAt, attempts: itself.attempts },
    inQueue: queued && { queue: queueOf(queued), since: queued.publishedAt, deliveries: queued.attempts },
    leavesAt: rows.find(({ handler }) => isDelayed(handler))?.nextAt,
    duplicates,
    actions: await actionsOn(site, id, [...stories.values()]),
  }
}

/** By id, and by key: `identify()` may have made the key that an operator knows. */
async function rowsWith<Tx>({ store }: Pick<Site<Tx>, 'store'>, id: string): Promise<readonly StoredParkedMessage[]> {
  const page = { limit: mostListed, maxBytes: mostBytes }
  const byId = await store.parking.list({ kind: 'any', messageId: fittedText(id) }, page)
  const rows = byId.length > 0 ? byId : await store.parking.list({ kind: 'any', key: id }, page)
  return await withRunningMarks(store, rows)
}

/** Of the messages of a key, only the one that was parked first is tried. */
async function headOf<Tx>(
  { store }: Pick<Site<Tx>, 'store'>,
  { handler, key, orderKey, state }: StoredParkedMessage,
): Promise<HandlerStory['behind']> {
  if (orderKey === undefined || state !== 'waiting') return undefined
  const [head] = await store.parking.list({ kind: 'any', handler, orderKey }, { limit: 1, maxBytes: 1 })
  if (head === undefined || head.key === key) return undefined
  const { messageId, state: its, reason } = head
  return { handler, key: head.key, messageId, state: its, reason }
}

/** Intents, and messages on their way out, have the key of the call that wanted them as their source. */
async function causedRows<Tx>(
  { store }: Pick<Site<Tx>, 'store'>,
  causes: ReadonlySet<string>,
): Promise<readonly StoredParkedMessage[]> {
  const page = { limit: mostListed, maxBytes: mostBytes }
  const found: StoredParkedMessage[] = []
  for (const cause of causes)
    found.push(...(await store.parking.list({ kind: 'any', source: fittedText(cause) }, page)))
  return found.filter(({ handler }) => isIntent(handler) || isForQueue(handler))
}

function isCausedBy({ causedBy }: OutgoingView, causes: ReadonlySet<string>): boolean {
  return [causedBy?.key, causedBy?.messageId].some((cause) => cause !== undefined && causes.has(cause))
}

/** Of a message on its way out, that is who has caused it. */
function sourceOf(row: StoredParkedMessage | undefined): string | undefined {
  return row === undefined || isIntent(row.handler) || isForQueue(row.handler) ? undefined : row.source
}

function recordStory(of: { handler: string; key: string }, record: InboxRecord, id: string): HandlerStory {
  return { ...foundRecord(of, record, of.key === id ? id : undefined), result: record.result, errors: [] }
}

function rowStory(
  row: StoredParkedMessage,
  pauses: ReadonlyMap<string, Pause>,
  redrives: readonly Redrive[],
): HandlerStory {
  const errors = readErrorNotes(row.errors).map(({ at, message }) => ({ at: new Date(at), message }))
  return {
    ...foundRow(row),
    parkedAt: row.parkedAt,
    errors,
    paused: pauses.get(row.handler),
    redrive: redrives.find(({ id }) => id === row.redrive),
  }
}

function callsOf({ id: process, host, pid, running, handlers }: ReceivedReport, id: string) {
  return running
    .filter(({ messageId, key }) => messageId === id || key === id)
    .map((call) => ({ call, process, host, pid, type: handlers.find(({ name }) => name === call.handler)?.type }))
}

function contentOf({ message, originalBody }: StoredParkedMessage): MessageStory['message'] {
  const { headers, body } = unpackLetter(message)
  return {
    headers,
    body: readableBody(body),
    edited: originalBody !== undefined,
    ...(originalBody !== undefined && { originalBody: readableBody(originalBody) }),
  }
}

/** An action may be about many messages, or about a filter: only those that name this one are known to be about it. */
async function actionsOn<Tx>(
  { store }: Pick<Site<Tx>, 'store'>,
  id: string,
  stories: readonly HandlerStory[],
): Promise<readonly AuditedAction[]> {
  const keys = new Set([id, ...stories.map(({ key }) => key)])
  const names = (subject: unknown): boolean => {
    if (Array.isArray(subject)) return subject.some(names)
    if (typeof subject !== 'object' || subject === null) return false
    const { key, id: named } = subject as { readonly key?: unknown; readonly id?: unknown }
    if (keys.has(key as string) || named === id) return true
    return Object.values(subject).some((value) => typeof value === 'object' && names(value))
  }
  return (await auditedActions(store, mostListed)).filter(({ subject }) => names(subject))
}
