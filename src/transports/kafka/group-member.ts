import { backoffMs } from '../../clock/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { KafkaConsumer, KafkaMetadata, KafkaOffset, TopicPartitions } from './client-shapes.ts'
import { CommitNotes } from './commit-notes.ts'
import { clientOptions, type KafkaSettings } from './settings.ts'
import { shareOut } from './share-out.ts'

export interface Assignment {
  readonly partitions: readonly TopicPartitions[]
  /** The generation of the group: it grows with every rebalance. */
  readonly generation: number
  readonly memberId: string
}

export interface GroupMemberOptions {
  /** Called before the group is joined again. Resolves when all partitions may be given up, unless they are already lost. */
  handOver(hasLostAll: boolean): Promise<void>
  assigned(assignment: Assignment): void
  /** Joining has failed, `failures` times in a row. */
  failed(error: unknown, failures: number): void
}

/** Our membership in the consumer group: joins it, joins again after each rebalance, and commits positions. */
export class GroupMember {
  readonly #settings: KafkaSettings
  readonly #options: GroupMemberOptions
  readonly #consumer: KafkaConsumer
  /** The notes beside the group's positions. */
  readonly notes = new CommitNotes()
  #isJoined = false
  #isJoining = false
  #isComparing = false
  /** The number of partitions of each topic when the group was joined. */
  #joinedWith: Readonly<Record<string, number>> = {}
  /** The number of partitions of each topic that was last reported. */
  readonly #saidOf = new Map<string, number>()
  #hasLeft = false

  constructor(settings: KafkaSettings, options: GroupMemberOptions) {
    this.#settings = settings
    this.#options = options
    const rebalanceTimeout = Math.max(settings.sessionTimeoutMs, settings.handOverMs + 20_000)
    this.#consumer = new settings.kafka.Consumer(
      clientOptions(settings, {
        groupId: settings.group,
        autocommit: false,
        // With the newer protocol, the broker assigns partitions without asking us before it takes them away.
        groupProtocol: 'classic',
        sessionTimeout: settings.sessionTimeoutMs,
        rebalanceTimeout,
        heartbeatInterval: Math.min(3_000, settings.sessionTimeoutMs / 3),
        // A join is answered only when all members have handed over.
        requestTimeout: rebalanceTimeout + 10_000,
        partitionAssigner: shareOut,
        protocolsMetadata: (_protocols: unknown, _topics: unknown, metadata: KafkaMetadata) =>
          this.#beforeJoining(metadata),
      }),
    )
    this.notes.attach(this.#consumer, settings.kafka)
    settings.turn.attach(this.#consumer, settings.kafka)
    this.#consumer.topics.trackAll(...settings.topics)
    this.#consumer.on('consumer:group:join', (joined: JoinPayload) => this.#joined(joined))
    // The client has given up joining after a rebalance.
    this.#consumer.on('error', (error: unknown) => {
      if (this.#hasLeft) return
      settings.onError(error)
      void this.join()
    })
  }

  /** False between a rebalance and the next assignment, when the group accepts no positions. */
  get mayCommit(): boolean {
    return this.#isJoined
  }

  async join(): Promise<void> {
    if (this.#isJoining) return
    this.#isJoining = true
    const { clock } = this.#settings
    for (let failures = 0; !this.#hasLeft; failures++) {
      try {
        await this.#settings.turn.asking(() => this.#consumer.joinGroup())
        break
      } catch (error) {
        if (this.#hasLeft) break
        this.#options.failed(error, failures + 1)
        await clock.sleep(backoffMs(failures, clock))
      }
    }
    this.#isJoining = false
  }

  /**
   * Joins again if the number of partitions differs from what the group has assigned. The metadata may be older than the join,
   * so it is read again before anything is done.
   */
  async compare(seen: KafkaMetadata, lookAgain: () => Promise<KafkaMetadata>): Promise<void> {
    if (this.#isComparing || this.#changedIn(seen).length === 0) return
    this.#isComparing = true
    try {
      const metadata = await lookAgain()
      const changed = this.#changedIn(metadata)
      this.#sayChanged(changed)
      if (changed.length > 0) await this.#joinAgain()
      // Not all brokers may know of the change yet, so wait before comparing again.
      await this.#settings.clock.sleep(1_000)
    } finally {
      this.#isComparing = false
    }
  }

  #changedIn(metadata: KafkaMetadata): [string, number][] {
    if (!this.#isJoined || this.#isJoining || this.#hasLeft) return []
    return this.#otherCounts(countsOf(metadata))
  }

  #otherCounts(counts: Readonly<Record<string, number>>): [string, number][] {
    return Object.entries(counts).filter(([topic, count]) => (this.#joinedWith[topic] ?? count) !== count)
  }

  #sayChanged(changed: readonly [string, number][]): void {
    for (const [topic, count] of changed) {
      if (this.#saidOf.get(topic) === count) continue
      this.#saidOf.set(topic, count)
      const message = `Topic ${topic} had ${this.#joinedWith[topic]} partitions and now has ${count}.`
      this.#settings.notice(new JustonceError('PARTITIONS_CHANGED', { message }))
    }
  }

  /** Reads these topics from now on. */
  async subscribe(topics: readonly string[], before: readonly string[]): Promise<void> {
    this.#consumer.topics.untrackAll(...before.filter((topic) => !topics.includes(topic)))
    this.#consumer.topics.trackAll(...topics.filter((topic) => !before.includes(topic)))
    if (this.#isJoined && !this.#hasLeft) await this.#joinAgain()
  }

  async commit(offsets: KafkaOffset[]): Promise<void> {
    await this.#settings.turn.asking(() => this.#consumer.commit({ offsets }))
  }

  /** -1 where there is none, or one of another topic that had the name before. */
  async committed(topics: TopicPartitions[], now: KafkaMetadata): Promise<ReadonlyMap<string, readonly bigint[]>> {
    const found = await this.#settings.turn.asking(() => this.#consumer.listCommittedOffsets({ topics }))
    const isOfAnother = (topic: string, partition: number): boolean =>
      (this.notes.topicOf(topic, partition) ?? now.topics.get(topic)?.id) !== now.topics.get(topic)?.id
    return new Map(
      [...found].map(([topic, offsets]) => [
        topic,
        offsets.map((offset, partition) => (isOfAnother(topic, partition) ? -1n : offset)),
      ]),
    )
  }

  async leave(): Promise<void> {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#isJoined = false
    await this.#consumer.close(true)
  }

  /** Hands over first, while our heartbeats still reach the group. */
  async #joinAgain(): Promise<void> {
    await this.#options.handOver(false)
    if (this.#isJoined) await this.join()
  }

  async #beforeJoining(metadata: KafkaMetadata): Promise<Buffer> {
    if (!this.#hasLeft) await this.#options.handOver(this.#consumer.memberId === null)
    this.#isJoined = false
    if (this.#hasLeft) throw new Error('The member has left the group.')
    const counts = countsOf(metadata)
    // The group may be joined again for another reason before we have compared, and afterwards nothing differs any more. A
    // smaller number is that of a broker that has not heard of the change yet.
    this.#sayChanged(this.#otherCounts(counts).filter(([topic, count]) => count > (this.#joinedWith[topic] ?? count)))
    this.#joinedWith = counts
    // Sent to the group with the join. Nobody reads it, but a changed value makes the group assign partitions again. It is also
    // the only place where the client waits for us.
    return Buffer.from(`justonce ${JSON.stringify(this.#joinedWith)}`)
  }

  #joined({ memberId, generationId, assignments }: JoinPayload): void {
    if (this.#hasLeft) return
    this.#isJoined = true
    this.#options.assigned({ partitions: assignments ?? [], generation: generationId ?? 0, memberId })
  }
}

interface JoinPayload {
  readonly memberId: string
  readonly generationId?: number
  readonly assignments?: readonly TopicPartitions[] | null
}

function countsOf({ topics }: KafkaMetadata): Record<string, number> {
  const counts = [...topics].flatMap(([topic, found]) =>
    found === undefined ? [] : [[topic, found.partitions.length]],
  )
  return Object.fromEntries(counts.sort())
}
