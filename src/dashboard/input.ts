import type { LetterFilter, LetterSelection, OutgoingPage, Page } from '../operations/index.ts'
import { Refusal } from './refusal.ts'

/** Larger than any body that somebody edits by hand. */
const mostBytes = 4 * 1_048_576

/** The JSON of a request, which is never longer than we are ready to keep in memory. */
export async function readInput(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const tooLarge = new Refusal(413, 'TOO_LARGE', `At most ${mostBytes} bytes are taken.`)
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) throw tooLarge
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength
    if (size > mostBytes) throw tooLarge
    chunks.push(chunk)
  }
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)))
  } catch {
    throw new Refusal(400, 'NOT_JSON', 'The request is no JSON.')
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Refusal(400, 'NOT_JSON', 'The request is no JSON object.')
}

/** The fields of a query that were given, and no others: operations check what is in them. */
export function fieldsOf(query: URLSearchParams, texts: readonly string[], dates: readonly string[] = []) {
  const fields: Record<string, unknown> = {}
  for (const name of texts) {
    const value = query.get(name)
    if (value !== null && value !== '') fields[name] = value
  }
  for (const name of dates) {
    const value = query.get(name)
    if (value !== null && value !== '') fields[name] = dateFrom(value, name)
  }
  return fields
}

export function pageOf(query: URLSearchParams): Page {
  return { limit: numberFrom(query, 'limit') ?? 50, after: numberFrom(query, 'after') }
}

/** A page of a queue, whose places are texts. */
export function placeIn(query: URLSearchParams): OutgoingPage {
  return { limit: numberFrom(query, 'limit') ?? 50, after: query.get('after') ?? undefined }
}

export function numberFrom(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  const value = Number(text)
  if (Number.isFinite(value)) return value
  throw new Refusal(400, 'OPTION_INVALID', `${name} is no number.`)
}

const filterTexts = ['handler', 'type', 'reason', 'errorText', 'key', 'messageId', 'businessId', 'orderKey', 'source']
const filterDates = ['since', 'before']

export function filterFrom(query: URLSearchParams): LetterFilter {
  const shape = query.get('shape')
  const filter = fieldsOf(query, filterTexts, filterDates) as LetterFilter
  if (shape === null) return filter
  const { handler = '', reason = '' } = filter
  return { ...filter, group: { handler, reason, shape } }
}

/** JSON has no dates; everything else is checked by the operation that gets it. */
export function selectionFrom(value: unknown): LetterSelection {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value as LetterSelection
  const selection: Record<string, unknown> = { ...value }
  for (const name of filterDates) if (selection[name] !== undefined) selection[name] = dateFrom(selection[name], name)
  return selection as LetterSelection
}

function dateFrom(value: unknown, name: string): Date {
  const date = new Date(typeof value === 'string' ? value : Number.NaN)
  if (!Number.isNaN(date.getTime())) return date
  throw new Refusal(400, 'OPTION_INVALID', `${name} is no time.`)
}
