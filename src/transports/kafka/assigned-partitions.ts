import { backoffMs } from '../../clock/index.ts'
import { isJustonceError, JustonceError } from '../../errors/index.ts'
import { type Assigned, assignedLedgers, type BeginningOptions, partitionOf } from './assigned-ledgers.ts'
import { noteWithoutStore } from './begun.ts'
import type { KafkaMetadata, LogCut } from './client-shapes.ts'
import { noEpoch } from './committed-records.ts'
import type { Assignment } from './group-member.ts'
import { type LedgerStart, PartitionLedger } from './partition-ledger.ts'

/** How often set-aside topics are tried again, and positions are compared with the store. */
const asideMs = 5_000

export interface AssignedPartitionsOptions extends BeginningOptions {
  /** Called when partitions were added or removed. */
  changed(): void
  /** Reports the error, or ends reading, depending on the error and on how often it occurred. */
  failOrReport(error: unknown, failures: number): void
}

/** The partitions assigned to us, across all rebalances of one membership. */
export class AssignedPartitions {
  readonly #options: AssignedPartitionsOptions
  readonly #ledgers = new Map<string, PartitionLedger>()
  #last: Assignment | undefined
  #assignments = 0
  #lookedAt = 0
  #isEnded = false

  constructor(options: AssignedPartitionsOptions) {
    this.#options = options
  }

  all(): PartitionLedger[] {
    return [...this.#ledgers.values()]
  }

  /** How many deliveries are unsettled. */
  out(): number {
    let out = 0
    for (const ledger of this.#ledgers.values()) out += ledger.out
    return out
  }

  /** The total size of all records in memory. */
  bytes(): number {
    let bytes = 0
    for (const ledger of this.#ledgers.values()) bytes += ledger.bytes
    return bytes
  }

  /** Moves it to the end of the line, so that the others come first next time. */
  hadItsTurn(ledger: PartitionLedger): void {
    this.#ledgers.delete(ledger.lane)
    this.#ledgers.set(ledger.lane, ledger)
  }

  assign(assignment: Assignment): void {
    const last = this.#last
    // If a generation was skipped, other members may have had our partitions in between.
    const isNext = last?.memberId === assignment.memberId && assignment.generation - last.generation <= 1
    const partitions = assignment.partitions.flatMap(({ topic, partitions }) =>
      partitions.map((partition) => ({ topic, partition, lane: `${topic}/${partition}` })),
    )
    const lanes = new Set(partitions.map(({ lane }) => lane))
    for (const ledger of this.all()) if (!isNext || !lanes.has(ledger.lane)) this.#drop(ledger)
    this.#last = assignment
    this.#assignments++
    void this.#begin(partitions.filter(({ lane }) => !this.#ledgers.has(lane)))
    this.#options.changed()
  }

  /** Called when retention has removed records that we had not read, or the partition has lost its end, perhaps for another. */
  async findAgain(ledger: PartitionLedger, cut?: LogCut): Promise<void> {
    const { settings, fetcher, restore } = this.#options
    const [first, last] = await Promise.all([
      fetcher.edges('earliest', [ledger.topic]),
      fetcher.edges('latest', [ledger.topic]),
    ])
    const begin = first.get(ledger.topic)?.[ledger.partition] ?? 0n
    const end = last.get(ledger.topic)?.[ledger.partition] ?? 0n
    if (!ledger.isOurs) return
    const { position, lane, epoch } = ledger
    const isRefused = cut === undefined && position >= begin && position <= end && epoch !== noEpoch
    if (isRefused && !ledger.keepsEpochs) {
      ledger.ignoreEpochs()
      const message = `The broker refuses leader epoch ${epoch} of ${lane}, which it has sent itself. Reading continues at ${position} without epochs, so a log that was cut may not be recognised.`
      settings.notice(new JustonceError('POSITION_LOST', { message }))
      this.#options.changed()
      return
    }
    let problem = 'does not exist'
    if (cut !== undefined) problem = `is of a log that was cut off at ${cut.endOffset} or before`
    else if (isRefused) problem = `is of a log that had leader epoch ${epoch}, and this one has had none so late`
    const message = `Position ${position} of ${lane} ${problem}: it holds ${begin} to ${end}.`
    const isOfAnother = cut !== undefined || isRefused || position > end
    if (isOfAnother && restore !== undefined && ledger.storedUpTo !== undefined) {
      this.#setAside(this.#of(ledger.topic), new JustonceError('SOURCE_REPLACED', { message }))
      return
    }
    // Only where the epoch is still there is known how much of it: earlier ones may have been cut, too.
    const again = cut !== undefined && cut.epoch === epoch && cut.endOffset > begin ? cut.endOffset : begin
    settings.notice(new JustonceError('POSITION_LOST', { message: `${message} Reading continues at ${again}.` }))
    if (position < begin) {
      ledger.skipTo(begin)
      this.#options.changed()
    } else {
      const epochs = isRefused && { epochs: 'refused' as const }
      this.#restart(ledger, { topicId: ledger.topicId, position: again, committed: -1n, ...epochs })
    }
  }

  /** A store restored from a backup has lost positions. On an idle partition, nothing else would notice. */
  async lookAtStore(): Promise<void> {
    const { settings, restore } = this.#options
    const now = settings.clock.monotonicMs()
    const idle = this.all().filter(({ isIdle }) => isIdle)
    if (restore === undefined || idle.length === 0 || now - this.#lookedAt < asideMs) return
    this.#lookedAt = now
    const ends = idle.map(({ storedUpTo }) => storedUpTo)
    const stored = await restore(idle.map(partitionOf))
    const isElsewhere = (ledger: PartitionLedger, index: number): boolean =>
      ledger.isOurs &&
      ledger.isIdle &&
      ledger.storedUpTo === ends[index] &&
      ledger.storedUpTo?.toString() !== stored[index]?.next
    this.reread(idle.filter(isElsewhere))
  }

  /** Drops what was read of these partitions and asks the store again where to begin. */
  reread(ledgers: readonly PartitionLedger[]): void {
    if (ledgers.length === 0) return
    for (const ledger of ledgers) this.#drop(ledger)
    void this.#begin(ledgers)
    this.#options.changed()
  }

  /** Looks at all of them, also at those without room for more: what they hold of a topic that is gone is worthless. */
  compare({ topics }: KafkaMetadata): void {
    for (const ledger of this.all()) {
      const id = topics.get(ledger.topic)?.id
      if (id !== undefined && id !== ledger.topicId) this.#replace(ledger, id)
    }
  }

  /** The topic was deleted and created again. The remains of the old one are worthless, and the new one begins at zero. */
  #replace(ledger: PartitionLedger, topicId: string): void {
    // It was already set aside together with another partition of its topic.
    if (!ledger.isOurs) return
    const { settings, restore } = this.#options
    settings.seen.isNew(ledger.topic)
    const message = `Topic ${ledger.topic} had the id ${ledger.topicId} and now has ${topicId}.`
    if (restore !== undefined) {
      this.#setAside(this.#of(ledger.topic), new JustonceError('SOURCE_REPLACED', { message }))
      return
    }
    settings.notice(new JustonceError('TOPIC_REPLACED', { message }))
    this.#options.member.notes.set(ledger.topic, ledger.partition, noteWithoutStore(topicId))
    // Committed at once, so that every member knows that the group has begun here.
    this.#restart(ledger, { topicId, position: 0n, committed: -1n })
  }

  /** Gives up all partitions. */
  end(): void {
    this.#isEnded = true
    for (const ledger of this.all()) this.#drop(ledger)
  }

  async #begin(given: readonly Assigned[]): Promise<void> {
    const { settings, failOrReport } = this.#options
    let partitions = given
    const mine = this.#assignments
    const isPast = (): boolean => this.#assignments !== mine || this.#isEnded
    for (let failures = 0; partitions.length > 0 && !isPast(); failures++) {
      try {
        const ledgers = await assignedLedgers(partitions, this.#options, isPast)
        if (isPast()) return
        for (const ledger of ledgers) this.#ledgers.set(ledger.lane, ledger)
        this.#lookedAt = settings.clock.monotonicMs()
        this.#options.changed()
        return
      } catch (error) {
        if (isPast()) return
        const replaced = undecidedTopic(error)
        if (replaced !== undefined) {
          const isReplaced = ({ topic }: Assigned): boolean => topic === replaced
          this.#setAside(partitions.filter(isReplaced), error as JustonceError)
          partitions = partitions.filter((each) => !isReplaced(each))
          continue
        }
        failOrReport(error, failures + 1)
        await settings.clock.sleep(backoffMs(failures, settings.clock))
      }
    }
  }

  /** An operator must decide what to do about this topic. The other topics are still read; if there are none, reading ends. */
  #setAside(partitions: readonly Assigned[], error: JustonceError): void {
    const { settings, failOrReport } = this.#options
    if (settings.topics.length === 1) {
      failOrReport(error, 1)
      return
    }
    for (const ledger of this.all()) if (partitions.includes(ledger)) this.#drop(ledger)
    settings.notice(error)
    this.#options.changed()
    const mine = this.#assignments
    void settings.clock.sleep(asideMs).then(() => {
      if (this.#assignments === mine && !this.#isEnded) void this.#begin(partitions)
    })
  }

  #of(topic: string): PartitionLedger[] {
    return this.all().filter((ledger) => ledger.topic === topic)
  }

  #restart(ledger: PartitionLedger, start: Pick<LedgerStart, 'topicId' | 'position' | 'committed' | 'epochs'>): void {
    this.#drop(ledger)
    const { topic, partition } = ledger
    const again = new PartitionLedger({ topic, partition, ...start, suspects: this.#options.suspects })
    this.#ledgers.set(again.lane, again)
    this.#options.changed()
  }

  #drop(ledger: PartitionLedger): void {
    ledger.end()
    this.#ledgers.delete(ledger.lane)
  }
}

/** The topic, if an operator must decide where to begin in it. */
function undecidedTopic(error: unknown): string | undefined {
  if (!isJustonceError(error, 'SOURCE_REPLACED') && !isJustonceError(error, 'POSITION_FORGOTTEN')) return undefined
  return error.details?.topic as string | undefined
}
