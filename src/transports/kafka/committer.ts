import { JustonceError } from '../../errors/index.ts'
import { type Changes, changes } from './changes.ts'
import type { GroupMember } from './group-member.ts'
import type { PartitionLedger } from './partition-ledger.ts'
import { backoffMs, type KafkaSettings } from './settings.ts'

/**
 * Tells the broker how far partitions are settled: one request at a time, which takes all that has been settled while
 * the one before it was under way.
 */
export class Committer {
  readonly #settings: KafkaSettings
  readonly #member: GroupMember
  readonly #ledgers: () => Iterable<PartitionLedger>
  readonly #changed: Changes = changes()
  #failures = 0
  #lastError: unknown
  #running: Promise<void> | undefined
  #ended = false

  constructor(settings: KafkaSettings, member: GroupMember, ledgers: () => Iterable<PartitionLedger>) {
    this.#settings = settings
    this.#member = member
    this.#ledgers = ledgers
  }

  /**
   * Resolves when the broker knows, or the partition is no longer ours. Rejects when it could not be told in time; it is
   * told later then, if it can be.
   */
  async told(ledger: PartitionLedger, patienceMs: number): Promise<void> {
    const { clock, servers } = this.#settings
    const wanted = ledger.settledUpTo
    const failuresBefore = this.#failures
    const until = clock.monotonicMs() + patienceMs
    this.tell()
    for (;;) {
      const [seen, leftMs] = [this.#changed.seen(), until - clock.monotonicMs()]
      if (!ledger.isOurs || ledger.committed >= wanted || this.#ended) return
      if (this.#failures > failuresBefore) throw this.#lastError
      if (leftMs <= 0) {
        const message = `The group at ${servers} did not take a position within ${patienceMs} ms.`
        throw new JustonceError('BROKER_UNREACHABLE', { message })
      }
      await this.#changed.since(seen, leftMs)
    }
  }

  /** Sees to it that whatever is settled gets told. */
  tell(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#untold().length > 0 && this.#member.mayCommit && !this.#ended) this.tell()
    })
  }

  /** Something outside has changed: partitions came or went, or the group takes positions again. */
  look(): void {
    this.#changed.announce()
    if (this.#untold().length > 0) this.tell()
  }

  end(): void {
    this.#ended = true
    this.#changed.announce()
  }

  async #run(): Promise<void> {
    const { clock, onError } = this.#settings
    let failures = 0
    // What is settled in the same moment goes into the same request.
    await Promise.resolve()
    while (!this.#ended && this.#member.mayCommit) {
      const ledgers = this.#untold()
      if (ledgers.length === 0) return
      const offsets = ledgers.map((ledger) => ({
        topic: ledger.topic,
        partition: ledger.partition,
        offset: ledger.settledUpTo,
        leaderEpoch: -1,
      }))
      try {
        await this.#member.commit(offsets)
        for (const [index, ledger] of ledgers.entries())
          ledger.committed = (offsets[index] as { offset: bigint }).offset
        failures = 0
        this.#changed.announce()
      } catch (error) {
        this.#failures++
        this.#lastError = error
        onError(error)
        this.#changed.announce()
        await clock.sleep(backoffMs(failures++, clock))
      }
    }
  }

  #untold(): PartitionLedger[] {
    return [...this.#ledgers()].filter((ledger) => ledger.isOurs && ledger.settledUpTo > ledger.committed)
  }
}
