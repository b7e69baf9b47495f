import type { OutgoingMessage, PublishResult } from '../../contracts/index.ts'
import { cloudEventHeaders } from '../../encoding/cloud-events.ts'
import { JustonceError } from '../../errors/index.ts'
import { asSetupError, messageOf, says } from './client-errors.ts'
import type { KafkaProducer, KafkaRecordToSend } from './client-shapes.ts'
import { givenTime } from './given-time.ts'
import { type ClientSettings, clientOptions, whereOf } from './settings.ts'

/** All records for a partition travel as one batch, and brokers refuse batches of more than about a megabyte. */
const largestBatch = 500_000

export interface PublishingSettings extends ClientSettings {
  readonly topic: string | ((message: OutgoingMessage) => string)
  /** The CloudEvents attribute. */
  readonly source: string
}

/** Sends through an idempotent producer that waits for all replicas, and makes a new one after every failure. */
export class Publisher {
  readonly #settings: PublishingSettings
  #producer: KafkaProducer | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: PublishingSettings) {
    this.#settings = settings
  }

  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishResult[]> {
    // One at a time: what is published later must not overtake.
    const results = this.#last.then(() => this.#publish(messages))
    this.#last = results.catch(() => {})
    return results
  }

  async close(): Promise<void> {
    const { clock } = this.#settings
    await givenTime(this.#last, clock)
    await givenTime(this.#discard(), clock)
  }

  async #publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishResult[]> {
    const results: PublishResult[] = []
    const stopped = new Set<string>()
    for (const batch of inBatches(messages.map((message) => toRecord(message, this.#settings)))) {
      results.push(...(await this.#sendInOrder(batch, stopped)))
    }
    return results
  }

  /** Without those that follow a refused one of their key. */
  async #sendInOrder(records: KafkaRecordToSend[], stopped: Set<string>): Promise<readonly PublishResult[]> {
    const isHeld = ({ key }: KafkaRecordToSend): boolean => key !== undefined && stopped.has(key.toString('base64'))
    const free = records.filter((record) => !isHeld(record))
    const results = free.length === 0 ? [] : [...(await this.#send(free, stopped))]
    return records.map((record) => (free.includes(record) ? (results.shift() as PublishResult) : { kind: 'held' }))
  }

  async #send(records: KafkaRecordToSend[], stopped: Set<string>): Promise<readonly PublishResult[]> {
    try {
      await this.#open().send({ messages: records })
      return records.map(() => ({ kind: 'sent' as const }))
    } catch (error) {
      await this.#discard()
      if (!tooLarge.some((apiId) => says(error, 'apiId', apiId))) {
        throw asSetupError(error, whereOf(this.#settings)) ?? error
      }
      const [record] = records as [KafkaRecordToSend]
      if (records.length === 1) {
        if (record.key !== undefined) stopped.add(record.key.toString('base64'))
        return [refused(record, error)]
      }
    }
    // One of them is too large, and those for other partitions may have been taken: then they come twice with one id.
    const results: PublishResult[] = []
    for (const record of records) results.push(...(await this.#sendInOrder([record], stopped)))
    return results
  }

  #open(): KafkaProducer {
    const { kafka } = this.#settings
    this.#producer ??= new kafka.Producer(
      clientOptions(this.#settings, {
        idempotent: true,
        acks: -1,
        // Fewer than two would mean "for ever" to an idempotent producer.
        retries: 5,
        retryDelay: 300,
        ...(kafka.compatibilityPartitioner !== undefined && {
          partitioner: partitioner(kafka.compatibilityPartitioner),
        }),
      }),
    )
    return this.#producer
  }

  async #discard(): Promise<void> {
    const producer = this.#producer
    this.#producer = undefined
    await producer?.close(true).catch(this.#settings.onError)
  }
}

const tooLarge = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']

function refused({ topic, value }: KafkaRecordToSend, cause: unknown): PublishResult {
  const message = `Kafka refused a message of ${value.length} bytes for ${topic}: ${messageOf(cause)}`
  return { kind: 'refused', error: new JustonceError('PUBLISH_REFUSED', { message, cause }) }
}

/** Only for keys: the others are to be spread. */
function partitioner(byKey: (message: never, key: Buffer | undefined) => number) {
  let turn = 0
  return (message: never, key: Buffer | undefined): number => (key === undefined ? turn++ : byKey(message, key))
}

function toRecord(message: OutgoingMessage, { topic, source }: PublishingSettings): KafkaRecordToSend {
  const headers = cloudEventHeaders(message, source, 'ce_')
  return {
    topic: typeof topic === 'function' ? String(topic(message)) : topic,
    ...(message.key !== undefined && { key: Buffer.from(message.key) }),
    value: Buffer.from(message.body.buffer, message.body.byteOffset, message.body.byteLength),
    headers: new Map(Object.entries(headers).map(([name, value]) => [Buffer.from(name), Buffer.from(value)])),
    timestamp: BigInt(message.sentAt.getTime()),
  }
}

function inBatches(records: readonly KafkaRecordToSend[]): KafkaRecordToSend[][] {
  const batches: KafkaRecordToSend[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const record of records) {
    const size = sizeOf(record)
    if (bytes + size > largestBatch) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)?.push(record)
    bytes += size
  }
  return batches
}

function sizeOf({ key, value, headers }: KafkaRecordToSend): number {
  let size = value.length + (key?.length ?? 0) + 50
  for (const [name, text] of headers) size += name.length + text.length + 4
  return size
}
