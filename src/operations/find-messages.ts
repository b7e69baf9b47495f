import type { InboxRecord, ParkedFilter, RecordKey, StoredParkedMessage } from '../contracts/index.ts'
import { readErrorNotes } from '../encoding/error-notes.ts'
import { fittedText } from '../encoding/fit-text.ts'
import { checkChoice, checkOptions, JustonceError } from '../errors/index.ts'
import type { ReceivedReport } from '../facts/index.ts'
import { foundInQueues } from './found-in-queues.ts'
import { knownNames } from './known-names.ts'
import { checkDate, checkText } from './letter-filter.ts'
import type { FoundMessage, MessageFilter } from './message-types.ts'
import { mostBytes } from './pages.ts'
import { reportsOf } from './reports.ts'
import { nameOf } from './selection.ts'
import type { Site } from './site.ts'
import { stillRunning } from './still-running.ts'
import type { Page } from './types.ts'
import { checkWhole, mostListed } from './who-and-why.ts'

const texts = ['id', 'key', 'businessId', 'type', 'handler', 'errorText'] as const
const dates = ['since', 'before'] as const
const states = ['running', 'waiting', 'dead', 'queued', 'outgoing', 'processed', 'expired', 'discarded']
const recorded: readonly (string | undefined)[] = [undefined, 'processed', 'expired', 'discarded']

/** Rows are found by any field, records by id or key, and what runs is known from heartbeats. */
export async function findMessages<Tx>(
  site: Pick<Site<Tx>, 'store' | 'ownReport'>,
  filter: MessageFilter = {},
  page: Page = {},
): Promise<readonly FoundMessage[]> {
  checkFilter(filter)
  checkOptions(page, ['limit', 'after'], 'The page of a list')
  const { limit = 100, after = 0 } = page
  checkWhole(limit, 'limit', 1, mostListed)
  checkWhole(after, 'after', 0, Number.MAX_SAFE_INTEGER)
  const rows = await rowsOf(site, filter, { limit, after })
  // What is not in rows is listed once, on the first page.
  if (after > 0) return rows
  const reports = await reportsOf(site)
  const reported = reports.flatMap((report) => runningIn(report, filter))
  const running = await stillRunning(site, reported)
  const records = recorded.includes(filter.state) ? await recordsOf(site, filter, reports, rows) : []
  const isRunning = new Set(running.map(nameOf))
  const others = records.filter((each) => !isRunning.has(nameOf(each)))
  const atRest = rows.filter((each) => !isRunning.has(nameOf(each)))
  const inTime = (each: FoundMessage): boolean => isInTime(each.at, filter)
  const inQueues = (await foundInQueues(site.store, filter)).filter(inTime).slice(0, limit)
  return [...[...running, ...others].filter(inTime), ...inQueues, ...atRest]
}

function checkFilter(filter: MessageFilter): void {
  checkOptions(filter, [...texts, ...dates, 'state'], 'A filter of messages')
  for (const name of texts) if (filter[name] !== undefined) checkText(filter[name], `${name} of the filter`)
  for (const name of dates) if (filter[name] !== undefined) checkDate(filter[name], `${name} of the filter`)
  if (filter.state !== undefined) checkChoice(filter.state, 'state of the filter', states)
  const isByRecord = filter.state !== undefined && recorded.includes(filter.state)
  if (!isByRecord || filter.id !== undefined || filter.key !== undefined) return
  throw new JustonceError('OPTION_INVALID', {
    message: `Messages that are ${filter.state} are found by id or key only, because their records have no other index.`,
  })
}

async function rowsOf<Tx>(
  { store }: Pick<Site<Tx>, 'store'>,
  { id, key, type, state, businessId, ...rest }: MessageFilter,
  { limit, after }: { readonly limit: number; readonly after: number },
): Promise<readonly FoundMessage[]> {
  if (state !== undefined && state !== 'waiting' && state !== 'dead') return []
  const filter: ParkedFilter = {
    ...rest,
    state,
    key,
    type: type && fittedText(type),
    messageId: id && fittedText(id),
    businessId: businessId && fittedText(businessId),
  }
  return (await store.parking.list(filter, { limit, after, maxBytes: mostBytes })).map(foundRow)
}

export function foundRow(row: StoredParkedMessage): FoundMessage {
  const { handler, key, messageId, type, businessId, state, changedAt, reason, attempts, nextAt, sequence } = row
  const error = readErrorNotes(row.errors).at(-1)?.message
  const due = state === 'waiting' ? nextAt : undefined
  const found = { handler, key, messageId, type, businessId }
  return { ...found, state, at: changedAt, reason, error, attempts, nextAt: due, sequence }
}

function runningIn({ running, handlers }: ReceivedReport, filter: MessageFilter): readonly FoundMessage[] {
  // A heartbeat says nothing of these.
  if (
    filter.errorText !== undefined ||
    filter.businessId !== undefined ||
    (filter.state !== undefined && filter.state !== 'running')
  )
    return []
  return running
    .filter(({ handler, messageId, key }) => {
      if (filter.id !== undefined && filter.id !== messageId) return false
      return (filter.key ?? key) === key && (filter.handler ?? handler) === handler
    })
    .map(({ handler, key, messageId, attempt, since }): FoundMessage => {
      const type = handlers.find(({ name }) => name === handler)?.type
      return { handler, key, messageId, type, state: 'running', at: since, attempts: attempt }
    })
    .filter(({ type }) => (filter.type ?? type) === type)
}

async function recordsOf<Tx>(
  site: Pick<Site<Tx>, 'store'>,
  filter: MessageFilter,
  reports: readonly ReceivedReport[],
  rows: readonly FoundMessage[],
): Promise<readonly FoundMessage[]> {
  const { id, key, handler, type, state, errorText, businessId } = filter
  // A record says nothing else.
  if ((id === undefined && key === undefined) || [errorText, type, businessId].some((each) => each !== undefined))
    return []
  const names = handler === undefined ? await knownNames(site, reports) : [handler]
  const keys = new Set([...(key === undefined ? [id as string] : [key]), ...rows.map((row) => row.key)])
  const found = await findRecords(site, names, [...keys])
  return found
    .map(({ record, ...of }) => ({ ...of, record, found: foundRecord(of, record, of.key === id ? id : undefined) }))
    .filter(({ record }) => record.state !== 'parked' && (state ?? record.state) === record.state)
    .map(({ found }) => found)
}

export function foundRecord({ handler, key }: RecordKey, record: InboxRecord, messageId?: string): FoundMessage {
  // A parked record belongs to a row, which says more.
  const state = record.state === 'parked' ? 'waiting' : record.state
  return { handler, key, messageId, type: undefined, state, at: record.processedAt }
}

const lookedAtOnce = 500

export async function findRecords<Tx>(
  { store }: Pick<Site<Tx>, 'store'>,
  names: readonly string[],
  keys: readonly string[],
): Promise<readonly (RecordKey & { readonly record: InboxRecord })[]> {
  const all = names.flatMap((handler) => keys.map((key) => ({ handler, key })))
  const found: (RecordKey & { readonly record: InboxRecord })[] = []
  for (let start = 0; start < all.length; start += lookedAtOnce) {
    const some = all.slice(start, start + lookedAtOnce)
    const records = await store.inbox.find(some)
    for (const [place, of] of some.entries()) {
      const record = records[place]
      if (record !== undefined) found.push({ ...of, record })
    }
  }
  return found
}

function isInTime(at: Date, { since, before }: MessageFilter): boolean {
  return (since === undefined || at >= since) && (before === undefined || at < before)
}
