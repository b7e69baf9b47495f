import type { Headers, IncomingMessage } from '../../contracts/index.ts'
import { readCloudEvent, readStructured } from '../../encoding/cloud-events.ts'
import type { KafkaRecord } from './client-shapes.ts'
import type { FetchedRecord } from './committed-records.ts'

/** Marks a record that had no body. In a compacted topic, that deletes its key. */
const tombstoneHeader = 'kafka_tombstone'

/** Stands for a missing body: every body is read as JSON, and an empty one would become a dead letter. */
const noBody = Buffer.from('null')

/** A record that is not a CloudEvent, as the `id` and `type` functions see it. */
export interface PlainRecord {
  readonly topic: string
  readonly partition: number
  readonly offset: string
  readonly key: string | undefined
  readonly headers: Headers
  readonly body: Uint8Array
}

/** Where a plain record has the value: the name of a header, or a function. */
export type FromRecord = string | ((record: PlainRecord) => string | undefined)

export interface ReadingOptions {
  readonly id?: FromRecord | undefined
  readonly type?: FromRecord | undefined
  /** If duplicates are recognised by position alone, the position of a record serves as its missing id. */
  readonly isKnownByPosition?: boolean
}

const dataUrl = 'data:;base64,'
const latestMs = 8.64e15
const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function readRecord(
  { record, offset, timestampMs }: FetchedRecord,
  { topic, partition }: { readonly topic: string; readonly partition: number },
  options: ReadingOptions,
): IncomingMessage {
  const all = headersOf(record)
  const structured = record.value === null ? undefined : readStructured(all, record.value)
  const event = structured ?? readCloudEvent(all, 'ce_')
  const key = record.key === null ? undefined : asText(record.key)
  const body = record.value ?? noBody
  const position = `${topic}/${partition}/${offset}`
  const plain: PlainRecord = { topic, partition, offset: String(offset), key, headers: all, body }
  return {
    id: event.id ?? said(options.id, plain) ?? (options.isKnownByPosition ? position : undefined),
    type: event.type ?? said(options.type, plain),
    key: key ?? structured?.key,
    sentAt: event.sentAt ?? dateOf(timestampMs),
    expiresAt: event.expiresAt,
    headers: record.value === null ? { ...event.headers, [tombstoneHeader]: 'true' } : event.headers,
    body: structured?.body ?? body,
    source: topic,
    position,
  }
}

/** Producers may write any number. If it is not a time that a Date can hold, it is left out. */
function dateOf(timestampMs: number): Date | undefined {
  return timestampMs >= 0 && timestampMs <= latestMs ? new Date(timestampMs) : undefined
}

/** A user's function that throws must not stop the partition: without an id, its record becomes a dead letter. */
function said(where: FromRecord | undefined, record: PlainRecord): string | undefined {
  if (where === undefined) return undefined
  if (typeof where === 'string') return Object.hasOwn(record.headers, where) ? record.headers[where] : undefined
  try {
    const answer = where(record)
    return typeof answer === 'string' ? answer : undefined
  } catch {
    return undefined
  }
}

function headersOf({ headers }: KafkaRecord): Headers {
  return Object.fromEntries(headers.map(([name, value]) => [asText(name), asText(value)]))
}

/**
 * Bytes that are not text are written as a data URL, so that they can be read back. So is text that looks like one, so that two
 * different keys never become equal.
 */
function asText(bytes: Buffer | null): string {
  if (bytes === null) return ''
  try {
    const decoded = text.decode(bytes)
    if (!decoded.startsWith(dataUrl)) return decoded
  } catch {}
  return `${dataUrl}${bytes.toString('base64')}`
}
