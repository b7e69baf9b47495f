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
import type { FetchOptions, FetchResponse, KafkaConsumer, KafkaMetadata, LogCut } from './client-shapes.ts'
import { committedRecords } from './committed-records.ts'
import type { PartitionLedger } from './partition-ledger.ts'
import { clientOptions, type KafkaSettings } from './settings.ts'
import { Troubles } from './troubles.ts'

/** How long a broker without new records holds a fetch. A partition that just got room may have to wait as long. */
const maxWaitMs = 300
const earliest = -2n
const latest = -1n
/**
 * Only committed records: 1 in the protocol. Passed as a string, because for the number the client also drops what it considers
 * rolled back, and it drops too much: one span per producer, up to its last rollback.
 */
const readCommitted = '1' as unknown as 1

export interface FetcherOptions {
  /** The partitions that have room. */
  wanted(): readonly PartitionLedger[]
  /** How many bytes may come. A broker still sends at least one whole record batch. */
  room(): number
  fetched(): void
  /** Called with the brokers' metadata of the topics, at most a few seconds old. */
  saw(metadata: KafkaMetadata): void
  /** The position is not in the partition, or no longer; or it is, but not what was read before it. */
  outOfRange(ledger: PartitionLedger, cut?: LogCut): Promise<void>
  /** Whether nothing else can be read if these partitions cannot. */
  isAll(isTroubled: (ledger: PartitionLedger) => boolean): boolean
  /** A fetch has failed, `failures` times in a row. */
  failed(error: unknown, failures: number): void
}

/**
 * Reads partitions over separate connections: a broker answers the requests of a connection one after another, and a commit
 * must not wait for a fetch.
 */
export class Fetcher {
  readonly #settings: KafkaSettings
  readonly #options: FetcherOptions
  readonly #consumer: KafkaConsumer
  readonly #nodes = new Map<number, Promise<void>>()
  /** Which replica a leader has sent us to (`clientRack`). Partitions sent to different ones must not be in one request. */
  readonly #replicas = new WeakMap<PartitionLedger, number>()
  readonly #troubles: Troubles
  /**
   * The most bytes to request: it shrinks after a timeout and grows slowly again. An answer that always takes too long would
   * otherwise be requested forever.
   */
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
    settings.turn.attach(this.#consumer, settings.kafka)
    this.#consumer.topics.trackAll(...settings.topics)
    this.#consumer.on('error', (error: unknown) => settings.onError(error))
  }

  async metadata(forceUpdate = false): Promise<KafkaMetadata> {
    const { turn, seen } = this.#settings
    const metadata = await turn.asking(() => this.#consumer.metadata({ topics: [...this.#topics], forceUpdate }))
    seen.see(metadata)
    return metadata
  }

  /** Which topics can be read, which are refused, and which have a partition without a leader. */
  async present(topics: readonly string[]): Promise<Record<'present' | 'refused' | 'leaderless', readonly string[]>> {
    const found = { present: [] as string[], refused: [] as string[], leaderless: [] as string[] }
    let failure: unknown
    await Promise.all(
      topics.map(async (topic) => {
        try {
          await this.#settings.turn.asking(() => this.#consumer.metadata({ topics: [topic], forceUpdate: true }))
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
    // If there is nothing else to read, this failure is what stops us.
    if (found.present.length === 0 && failure !== undefined) throw failure
    return found
  }

  /** Reads these topics from now on. */
  subscribe(topics: readonly string[]): void {
    const before = this.#topics
    this.#topics = topics
    this.#consumer.topics.untrackAll(...before.filter((topic) => !topics.includes(topic)))
    this.#consumer.topics.trackAll(...topics.filter((topic) => !before.includes(topic)))
  }

  /** The first or last offset of each partition. */
  edges(which: 'earliest' | 'latest', topics: readonly string[]): Promise<Map<string, bigint[]>> {
    const timestamp = which === 'earliest' ? earliest : latest
    return this.#settings.turn.asking(() => this.#consumer.listOffsets({ topics: [...topics], timestamp }))
  }

  /** Starts a fetch at each broker that a wanted partition is read from and that has no fetch in flight. */
  async fetch(): Promise<void> {
    if (this.#isClosed) return
    const force = this.#metadataIsStale
    this.#metadataIsStale = false
    const metadata = await this.metadata(force)
    this.#options.saw(metadata)
    const wanted = this.#options.wanted()
    const byNode = new Map<number, PartitionLedger[]>()
    for (const ledger of wanted) {
      const leader = metadata.topics.get(ledger.topic)?.partitions[ledger.partition]?.leader
      if (leader === undefined || leader < 0) this.#metadataIsStale = true
      else {
        const node = this.#replicas.get(ledger) ?? leader
        byNode.set(node, [...(byNode.get(node) ?? []), ledger])
      }
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
      const unsure = await this.#accept(node, ledgers, await this.#consumer.fetch(this.#request(node, ledgers)))
      this.#failures = 0
      this.#troubles.over(ledgers.filter((ledger) => !unsure.includes(ledger)))
      this.#inTime = Math.min(this.#inTime + mostBytes(this.#settings) / 1_024, mostBytes(this.#settings))
    } catch (error) {
      if (!this.#isClosed) await this.#failed(node, ledgers, error)
    }
  }

  /** A failure known to concern one partition must not affect the others. */
  async #failed(node: number, ledgers: readonly PartitionLedger[], error: unknown): Promise<void> {
    const { clock, onError } = this.#settings
    for (const ledger of ledgers) this.#replicas.delete(ledger)
    const missed = ledgers.filter((ledger) => codeFor(error, ledger) === offsetOutOfRange)
    await Promise.all(missed.map((ledger) => this.#missed(node, ledger)))
    if (this.#isClosed) return
    const response = responseOf(error)
    if (response !== undefined) await this.#accept(node, ledgers, response)
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

  /**
   * Only its leader knows what a partition holds: a replica may lag behind, and so may a broker that no longer leads it. Resolves
   * to false if nothing could be found out: the next fetch would be answered at once, in the same way.
   */
  async #missed(node: number, ledger: PartitionLedger, cut?: LogCut): Promise<boolean> {
    const { topic, partition } = ledger
    const { onError, turn } = this.#settings
    const asked = { topics: [topic], forceUpdate: true }
    try {
      const { topics } = await turn.asking(() => this.#consumer.metadata(asked))
      if (topics.get(topic)?.partitions[partition]?.leader === node) await this.#options.outOfRange(ledger, cut)
      return true
    } catch (error) {
      if (this.#isClosed) return false
      onError(error)
      this.#troubles.failed(ledger, error)
      return false
    }
  }

  #request(node: number, ledgers: readonly PartitionLedger[]): FetchOptions {
    const { maxBytesPerPartition } = this.#settings
    const maxBytes = Math.max(1, Math.floor(Math.min(this.#inTime, this.#options.room())))
    const topics = new Map<string, FetchOptions['topics'][number]>()
    for (const { topicId, partition, position, epoch } of ledgers) {
      const topic = topics.get(topicId) ?? { topicId, partitions: [] }
      topics.set(topicId, topic)
      topic.partitions.push({
        partition,
        currentLeaderEpoch: -1,
        fetchOffset: position,
        lastFetchedEpoch: epoch,
        partitionMaxBytes: Math.min(maxBytesPerPartition, maxBytes),
      })
    }
    const isolationLevel = readCommitted
    // A troubled partition is fetched alone, and must not make the others wait until it has new records.
    const minBytes = ledgers.some((ledger) => this.#troubles.has(ledger)) ? 0 : 1
    return { node, topics: [...topics.values()], maxWaitTime: maxWaitMs, minBytes, maxBytes, isolationLevel }
  }

  /** Resolves to the partitions of which nothing could be found out. */
  async #accept(
    node: number,
    ledgers: readonly PartitionLedger[],
    response: FetchResponse,
  ): Promise<readonly PartitionLedger[]> {
    const unsure: PartitionLedger[] = []
    const missed: Promise<unknown>[] = []
    for (const { topicId, partitions } of response.responses) {
      for (const fetched of partitions) {
        const ledger = ledgers.find((each) => each.topicId === topicId && each.partition === fetched.partitionIndex)
        // The partition was given up or restarted while the answer was on its way.
        if (ledger === undefined || !ledger.isOurs || fetched.errorCode !== 0) continue
        const { preferredReadReplica: replica = -1, divergingEpoch: cut } = fetched
        if (cut !== undefined && cut.endOffset >= 0n) {
          this.#replicas.delete(ledger)
          missed.push(this.#missed(node, ledger, cut).then((isSure) => isSure || unsure.push(ledger)))
          continue
        }
        if (replica >= 0) this.#replicas.set(ledger, replica)
        ledger.tookEpoch()
        const { records, next, epoch } = committedRecords(fetched, ledger.position)
        if (next > ledger.position) ledger.add(records, next, epoch)
      }
    }
    await Promise.all(missed)
    return unsure
  }
}

/** The limit for one answer, across all partitions. */
function mostBytes({ maxBytesPerPartition }: KafkaSettings): number {
  return maxBytesPerPartition * 16
}

function responseOf(error: unknown): FetchResponse | undefined {
  return (error as { response?: FetchResponse }).response
}

/** The broker's error code for one partition, if it refused some of them. */
function codeFor(error: unknown, { topicId, partition }: PartitionLedger): number {
  const response = responseOf(error)
  const topic = response?.responses.find((each) => each.topicId === topicId)
  const found = topic?.partitions.find((each) => each.partitionIndex === partition)
  if (found !== undefined) return found.errorCode
  return says(error, 'apiId', 'OFFSET_OUT_OF_RANGE') && response === undefined ? offsetOutOfRange : 0
}
