import { backoffMs } from '../../clock/index.ts'
import {
  hasNoLeader,
  isTimeout,
  isTopicRefused,
  isUnknownTopic,
  isUnreadable,
  offsetOutOfRange,
  says,
} from './client-errors.ts'
import type { FetchOptions, FetchResponse, KafkaConsumer, KafkaMetadata } from './client-shapes.ts'
import { committedRecords } from './committed-records.ts'
import type { PartitionLedger } from './partition-ledger.ts'
import { clientOptions, type KafkaSettings } from './settings.ts'
import { Troubles } from './troubles.ts'

/** How long a broker that has nothing holds a fetch: as long, a partition that just got room may have to wait. */
const maxWaitMs = 300
const earliest = -2n
const latest = -1n
/**
 * Only what was committed, one on the wire. As text, because for the number the client also drops what it takes for rolled
 * back, and it takes too much: one span for each producer, up to the last of its rollbacks.
 */
const readCommitted = '1' as unknown as 1

export interface FetcherOptions {
  /** Those that have room. */
  wanted(): readonly PartitionLedger[]
  /** How many bytes may come; a broker sends a whole batch of records all the same. */
  room(): number
  fetched(): void
  /** What the brokers say of the topics, a few seconds old at most. */
  saw(metadata: KafkaMetadata): void
  /** The position is not in the partition (any more). */
  outOfRange(ledger: PartitionLedger): Promise<void>
  /** A topic has another id than its ledger. */
  replaced(ledger: PartitionLedger, topicId: string): void
  /** Whether nothing is left that could be read if these cannot. */
  isAll(isTroubled: (ledger: PartitionLedger) => boolean): boolean
  /** A fetch has failed, so many times in a row by now. */
  failed(error: unknown, failures: number): void
}

/**
 * Reads partitions over connections of its own: a broker answers the requests of a connection one after the other, and a
 * commit must not wait for a fetch.
 */
export class Fetcher {
  readonly #settings: KafkaSettings
  readonly #options: FetcherOptions
  readonly #consumer: KafkaConsumer
  readonly #nodes = new Map<number, Promise<void>>()
  readonly #troubles: Troubles
  /** So much has come in time, and now and then a little more is tried: what takes longer would be asked for again for ever. */
  #inTime: number
  #failures = 0
  #metadataIsStale = false
  #isClosed = false
  #topics: readonly string[]

  constructor(settings: KafkaSettings, options: FetcherOptions) {
    this.#settings = settings
    this.#options = options
    this.#troubles = new Troubles(settings)
    this.#inTime = mostBytes(settings)
    this.#topics = settings.topics
    this.#consumer = new settings.kafka.Consumer(
      clientOptions(settings, { groupId: settings.group, groupProtocol: 'classic', autocommit: false, strict: false }),
    )
    this.#consumer.topics.trackAll(...settings.topics)
    this.#consumer.on('error', (error: unknown) => settings.onError(error))
  }

  async metadata(forceUpdate = false): Promise<KafkaMetadata> {
    return this.#consumer.metadata({ topics: [...this.#topics], forceUpdate })
  }

  /** Which of the topics can be read, which we may not know of, and which have a partition without a leader. */
  async present(topics: readonly string[]): Promise<Record<'present' | 'refused' | 'leaderless', readonly string[]>> {
    const found = { present: [] as string[], refused: [] as string[], leaderless: [] as string[] }
    let failure: unknown
    await Promise.all(
      topics.map(async (topic) => {
        try {
          await this.#consumer.metadata({ topics: [topic], forceUpdate: true })
          found.present.push(topic)
        } catch (error) {
          if (isTopicRefused(error)) found.refused.push(topic)
          else if (hasNoLeader(error)) {
            found.leaderless.push(topic)
            failure = error
          } else if (!isUnknownTopic(error)) throw error
        }
      }),
    )
    // With nothing else to read it is what keeps us from reading.
    if (found.present.length === 0 && failure !== undefined) throw failure
    return found
  }

  /** From now on these are read. */
  subscribe(topics: readonly string[]): void {
    const before = this.#topics
    this.#topics = topics
    this.#consumer.topics.untrackAll(...before.filter((topic) => !topics.includes(topic)))
    this.#consumer.topics.trackAll(...topics.filter((topic) => !before.includes(topic)))
  }

  /** The first or the last offset of each partition. */
  edges(which: 'earliest' | 'latest', topics: readonly string[]): Promise<Map<string, bigint[]>> {
    return this.#consumer.listOffsets({ topics: [...topics], timestamp: which === 'earliest' ? earliest : latest })
  }

  /** Begins a fetch at each broker that has something we want and is not being asked already. */
  async fetch(): Promise<void> {
    if (this.#isClosed) return
    const force = this.#metadataIsStale
    this.#metadataIsStale = false
    const metadata = await this.metadata(force)
    this.#options.saw(metadata)
    const wanted = this.#options.wanted()
    const byNode = new Map<number, PartitionLedger[]>()
    for (const ledger of wanted) {
      const topic = metadata.topics.get(ledger.topic)
      const leader = topic?.partitions[ledger.partition]?.leader
      if (topic !== undefined && topic.id !== ledger.topicId) this.#options.replaced(ledger, topic.id)
      else if (leader === undefined || leader < 0) this.#metadataIsStale = true
      else byNode.set(leader, [...(byNode.get(leader) ?? []), ledger])
    }
    for (const [node, ledgers] of byNode) {
      if (this.#nodes.has(node) || this.#isClosed) continue
      const chosen = this.#troubles.choose(ledgers)
      if (chosen.length === 0) continue
      const fetching = this.#fetchFrom(node, chosen).finally(() => {
        this.#nodes.delete(node)
        this.#options.fetched()
      })
      this.#nodes.set(node, fetching)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#consumer.close(true)
    await Promise.allSettled(this.#nodes.values())
  }

  async #fetchFrom(node: number, ledgers: readonly PartitionLedger[]): Promise<void> {
    try {
      this.#accept(ledgers, await this.#consumer.fetch(this.#request(node, ledgers)))
      this.#failures = 0
      this.#troubles.over(ledgers)
      this.#inTime = Math.min(this.#inTime + mostBytes(this.#settings) / 1_024, mostBytes(this.#settings))
    } catch (error) {
      if (!this.#isClosed) await this.#failed(ledgers, error)
    }
  }

  /** What is known to be the trouble of one partition is no trouble of the others. */
  async #failed(ledgers: readonly PartitionLedger[], error: unknown): Promise<void> {
    const { clock, onError } = this.#settings
    const missed = ledgers.filter((ledger) => codeFor(error, ledger) === offsetOutOfRange)
    await Promise.all(missed.map((ledger) => this.#options.outOfRange(ledger))).catch(onError)
    const response = responseOf(error)
    if (response !== undefined) this.#accept(ledgers, response)
    const isOne = ledgers.length === 1 && isUnreadable(error)
    const refused = ledgers.filter((ledger) => !missed.includes(ledger) && (isOne || codeFor(error, ledger) !== 0))
    if (missed.length + refused.length === 0 && isUnreadable(error)) return this.#troubles.suspect(ledgers)
    this.#metadataIsStale ||= missed.length === 0
    if (isTimeout(error)) this.#inTime /= 4
    const failures = Math.max(0, ...refused.map((ledger) => this.#troubles.failed(ledger, error)))
    if (refused.length > 0) {
      const hasOthers = !this.#options.isAll((ledger) => this.#troubles.has(ledger))
      if (hasOthers) onError(error)
      else this.#options.failed(error, failures)
    } else if (missed.length === 0) {
      this.#options.failed(error, ++this.#failures)
      await clock.sleep(backoffMs(this.#failures, clock))
    }
  }

  #request(node: number, ledgers: readonly PartitionLedger[]): FetchOptions {
    const { maxBytesPerPartition } = this.#settings
    const maxBytes = Math.max(1, Math.floor(Math.min(this.#inTime, this.#options.room())))
    const topics = new Map<string, FetchOptions['topics'][number]>()
    for (const { topicId, partition, position } of ledgers) {
      const topic = topics.get(topicId) ?? { topicId, partitions: [] }
      topics.set(topicId, topic)
      topic.partitions.push({
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: position,
        lastFetchedEpoch: -1,
        partitionMaxBytes: Math.min(maxBytesPerPartition, maxBytes),
      })
    }
    const isolationLevel = readCommitted
    // Whoever is asked alone must not keep the others waiting for something to come.
    const minBytes = ledgers.some((ledger) => this.#troubles.has(ledger)) ? 0 : 1
    return { node, topics: [...topics.values()], maxWaitTime: maxWaitMs, minBytes, maxBytes, isolationLevel }
  }

  #accept(ledgers: readonly PartitionLedger[], response: FetchResponse): void {
    for (const { topicId, partitions } of response.responses) {
      for (const fetched of partitions) {
        const ledger = ledgers.find((each) => each.topicId === topicId && each.partition === fetched.partitionIndex)
        // Given up, or begun anew, while the answer was on its way.
        if (ledger === undefined || !ledger.isOurs || fetched.errorCode !== 0) continue
        const { records, next } = committedRecords(fetched, ledger.position)
        if (next > ledger.position) ledger.add(records, next)
      }
    }
  }
}

/** Of all partitions, in one answer. */
function mostBytes({ maxBytesPerPartition }: KafkaSettings): number {
  return maxBytesPerPartition * 16
}

function responseOf(error: unknown): FetchResponse | undefined {
  return (error as { response?: FetchResponse }).response
}

/** What the broker said of one partition, where it refused some. */
function codeFor(error: unknown, { topicId, partition }: PartitionLedger): number {
  const response = responseOf(error)
  const topic = response?.responses.find((each) => each.topicId === topicId)
  const found = topic?.partitions.find((each) => each.partitionIndex === partition)
  if (found !== undefined) return found.errorCode
  return says(error, 'apiId', 'OFFSET_OUT_OF_RANGE') && response === undefined ? offsetOutOfRange : 0
}
