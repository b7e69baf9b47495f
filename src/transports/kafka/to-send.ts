import type { OutgoingMessage } from '../../contracts/index.ts'
import { cloudEventHeaders } from '../../encoding/cloud-events.ts'
import type { KafkaRecordToSend } from './client-shapes.ts'
import { isTopic } from './kafka-options.ts'

/** All records for a partition are sent as one batch, and brokers refuse batches of more than about a megabyte. */
const largestBatch = 500_000

/** Brokers silently close the connection if a request exceeds 100 MiB (`socket.request.max.bytes`). */
const largestRecord = 100_000_000

export interface ToSend {
  /** The message's key, for ordering. */
  readonly key: string | undefined
  readonly record: KafkaRecordToSend
  /** Why it can never be sent. */
  readonly error?: unknown
}

export interface RecordRules {
  readonly topic: string | ((message: OutgoingMessage) => string)
  readonly source: string
}

/**
 * Never throws: a problem with one message must not hold up the others. The client sets the record's timestamp to the time of
 * sending, because brokers refuse timestamps far from their own. `ce_time` says when it was published.
 */
export function toSend(message: OutgoingMessage, { topic, source }: RecordRules): ToSend {
  const { key, body } = message
  const empty = { topic: '', value: Buffer.from(body.buffer, body.byteOffset, body.byteLength), headers: new Map() }
  try {
    const record = {
      ...empty,
      topic: topicOf(message, topic),
      ...(key !== undefined && { key: Buffer.from(key) }),
      headers: headersOf(message, source),
    }
    if (sizeOf(record) > largestRecord) throw new RangeError(`No broker takes more than ${largestRecord} bytes.`)
    return { key, record }
  } catch (error) {
    return { key, record: empty, error }
  }
}

function topicOf(message: OutgoingMessage, topic: RecordRules['topic']): string {
  if (typeof topic === 'string') return topic
  const chosen: unknown = topic(message)
  if (isTopic(chosen)) return chosen
  throw new TypeError(`topic() answered ${typeof chosen === 'string' ? JSON.stringify(chosen) : typeof chosen}.`)
}

function headersOf(message: OutgoingMessage, source: string): Map<Buffer, Buffer> {
  const headers = cloudEventHeaders(message, source, 'ce_')
  return new Map(Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)]))
}

export function inBatches(all: readonly ToSend[]): ToSend[][] {
  const batches: ToSend[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const each of all) {
    const size = sizeOf(each.record)
    if (bytes + size > largestBatch) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)?.push(each)
    bytes += size
  }
  return batches
}

function sizeOf({ key, value, headers }: KafkaRecordToSend): number {
  let size = value.length + (key?.length ?? 0) + 50
  for (const [name, text] of headers) size += name.length + text.length + 4
  return size
}
