import { inTime } from '../../clock/index.ts'
import type { OutgoingMessage, PublishResult } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { asSetupError, hasNoLeader, isOfOneTopic, messageOf, says } from './client-errors.ts'
import type { KafkaProducer } from './client-shapes.ts'
import { type ClientSettings, clientOptions, farewellMs, whereOf } from './settings.ts'
import { inBatches, type RecordRules, type ToSend, toSend } from './to-send.ts'

export interface PublishingSettings extends ClientSettings, RecordRules {}

/** Sends through an idempotent producer that waits for all replicas. After every failure, it creates a new producer. */
export class Publisher {
  readonly #settings: PublishingSettings
  #producer: KafkaProducer | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: PublishingSettings) {
    this.#settings = settings
  }

  publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishResult[]> {
    // One call at a time, so that later messages do not overtake earlier ones.
    const results = this.#last.then(() => this.#publish(messages))
    this.#last = results.catch(() => {})
    return results
  }

  async close(): Promise<void> {
    const { clock } = this.#settings
    await inTime(this.#last, { clock, withinMs: farewellMs })
    await inTime(this.#discard(), { clock, withinMs: farewellMs })
  }

  async #publish(messages: readonly OutgoingMessage[]): Promise<readonly PublishResult[]> {
    const results: PublishResult[] = []
    const refusals = new Refusals()
    for (const batch of inBatches(messages.map((message) => toSend(message, this.#settings)))) {
      results.push(...(await this.#sendInOrder(batch, refusals)))
    }
    return results
  }

  /** Leaves out messages that follow a refused one of their key, and those that would be refused anyway. */
  async #sendInOrder(batch: readonly ToSend[], refusals: Refusals): Promise<readonly PublishResult[]> {
    const known = batch.map((each) => refusals.answerTo(each))
    const free = batch.filter((_, place) => known[place] === undefined)
    const answers = free.length === 0 ? [] : [...(await this.#send(free, refusals))]
    return known.map((answer) => answer ?? (answers.shift() as PublishResult))
  }

  async #send(batch: readonly ToSend[], refusals: Refusals): Promise<readonly PublishResult[]> {
    try {
      await this.#open().send({ messages: batch.map(({ record }) => record) })
      return batch.map(() => ({ kind: 'sent' as const }))
    } catch (error) {
      await this.#discard()
      const isAboutTopic = typeof this.#settings.topic === 'function' && isTopicTrouble(error)
      if (!isAboutTopic && !tooLarge.some((apiId) => says(error, 'apiId', apiId))) {
        throw asSetupError(error, whereOf(this.#settings)) ?? error
      }
      const [only] = batch as [ToSend]
      if (batch.length === 1 && isAboutTopic) refusals.topics.set(only.record.topic, error)
      if (batch.length === 1) return [refusals.refuse(only, error)]
    }
    // One of them caused the failure. Those for other partitions may have been accepted: they are sent twice, with one id.
    const results: PublishResult[] = []
    for (const each of batch) results.push(...(await this.#sendInOrder([each], refusals)))
    return results
  }

  #open(): KafkaProducer {
    const { kafka } = this.#settings
    this.#producer ??= new kafka.Producer(
      clientOptions(this.#settings, {
        idempotent: true,
        acks: -1,
        // With fewer than two, an idempotent producer would retry forever.
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

/** If the topic depends on the message, trouble with one topic must not stop messages for others. */
function isTopicTrouble(error: unknown): boolean {
  return isOfOneTopic(error) || says(error, 'apiId', 'INVALID_TOPIC_EXCEPTION')
}

/** What was refused in one call, and what that means for the rest of the call. */
class Refusals {
  readonly #keys = new Set<string>()
  readonly topics = new Map<string, unknown>()

  /** `undefined` if only sending it can show. */
  answerTo(each: ToSend): PublishResult | undefined {
    if (each.key !== undefined && this.#keys.has(each.key)) return { kind: 'held' }
    const cause = each.error ?? this.topics.get(each.record.topic)
    return cause === undefined ? undefined : this.refuse(each, cause)
  }

  refuse({ key, record }: ToSend, cause: unknown): PublishResult {
    if (key !== undefined) this.#keys.add(key)
    const { topic, value } = record
    const where = topic === '' ? '' : ` for ${topic}`
    const message = `Kafka cannot be sent a message of ${value.length} bytes${where}: ${messageOf(cause)}`
    const error = new JustonceError('PUBLISH_REFUSED', { message, cause })
    return { kind: 'refused', error, isPassing: hasNoLeader(cause) }
  }
}

/** Only for records with keys. The others are spread over the partitions. */
function partitioner(byKey: (message: never, key: Buffer | undefined) => number) {
  let turn = 0
  return (message: never, key: Buffer | undefined): number => (key === undefined ? turn++ : byKey(message, key))
}
