import type { ParkedFilter, RecordKey, StoredParkedMessage } from '../../contracts/index.ts'
import { isIntent } from '../../encoding/intent-name.ts'
import { isDelayed } from '../../encoding/outgoing-queue.ts'

/** What a row must have exactly as the filter says, and every store keeps as text. */
export const equalTexts = [
  'state',
  'handler',
  'type',
  'source',
  'reason',
  'shape',
  'key',
  'messageId',
  'businessId',
  'orderKey',
  'redrive',
] as const satisfies (keyof ParkedFilter)[]

/** For stores that filter their rows in JavaScript. */
export function fitsFilter(filter: ParkedFilter): (row: StoredParkedMessage) => boolean {
  const names = equalTexts.filter((name) => filter[name] !== undefined)
  const keys = filter.keys && new Set(filter.keys.map(nameOf))
  // Error histories are JSON, which writes a quote in a message as \".
  const text = filter.errorText && JSON.stringify(filter.errorText).slice(1, -1)
  return (row) =>
    isOfKind(row.handler, filter) &&
    names.every((name) => row[name] === filter[name]) &&
    (filter.released === undefined || row.released === filter.released) &&
    (text === undefined || row.errors.includes(text)) &&
    (filter.since === undefined || row.changedAt >= filter.since) &&
    (filter.before === undefined || row.changedAt < filter.before) &&
    (keys === undefined || keys.has(nameOf(row))) &&
    (row.redrive === undefined || filter.notInRedrives?.includes(row.redrive) !== true)
}

/** Whether a row of this handler is of the kind that the filter asks for. */
export function isOfKind(handler: string, { kind = 'message' }: ParkedFilter): boolean {
  return kind === 'any' || kindOfRow(handler) === kind
}

function kindOfRow(handler: string): NonNullable<ParkedFilter['kind']> {
  if (isIntent(handler)) return 'intent'
  return isDelayed(handler) ? 'delayed' : 'message'
}

function nameOf({ handler, key }: RecordKey): string {
  return JSON.stringify([handler, key])
}
