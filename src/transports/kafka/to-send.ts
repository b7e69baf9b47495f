import type { OutgoingMessage } from '../../contracts/index.ts'
import { cloudEventHeaders } from '../../encoding/cloud-events.ts'
import type { KafkaRecordToSend } from './client-shapes.ts'
import { isTopic } from './kafka-options.ts'

/** All records for a partition travel as one batch, and brokers refuse batches of more than about a megabyte. */
const largestBatch = 500_000

/** Brokers close the connection without a word when a request has more than 100 MiB (`socket.request.max.bytes`). */
const largestRecord = 100_000_000

export interface ToSend {
  /** Of the message, for its order. */
  readonly key: string | undefined
  readonly record: KafkaRecordToSend
  /** Why it cannot be sent, whoever is asked. */
  readonly error?: unknown
}

export interface RecordRules {
  readonly topic: string | ((message: OutgoingMessage) => string)
  readonly source: string
}

/**
 * Never throws: what is wrong with one message must not keep back the others. The record's timestamp is left to the client,
 * which takes the time of sending: brokers refuse what is far from their own. `ce_time` says when it was published.
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
