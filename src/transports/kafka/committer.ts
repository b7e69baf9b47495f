import { backoffMs, type ChangeSignal, changeSignal } from '../../clock/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { notTaken } from './client-errors.ts'
import type { GroupMember } from './group-member.ts'
import type { PartitionLedger } from './partition-ledger.ts'
import type { KafkaSettings } from './settings.ts'

interface Failure {
  readonly error: unknown
  /** Failures in a row. */
  readonly count: number
  /** Not retried before this time. */
  readonly untilMs: number
}

/** How long the group may take to answer while it is not rebalancing. */
const answerMs = 5_000

/**
 * Commits how far partitions are settled. It sends one request at a time, which includes everything settled while the
 * previous one was in flight.
 */
export class Committer {
  readonly #settings: KafkaSettings
  readonly #member: GroupMember
  readonly #ledgers: () => Iterable<PartitionLedger>
  readonly #changed: ChangeSignal
  readonly #failed = new WeakMap<PartitionLedger, Failure>()
  #running: Promise<void> | undefined
  #ended = false
  /**
   * The group has not taken the last position: its coordinator has frozen, or cannot be reached. Messages that were handled need
   * not wait for it: they are duplicates if they come again.
   */
  isLate = false

  constructor(settings: KafkaSettings, member: GroupMember, ledgers: () => Iterable<PartitionLedger>) {
    this.#settings = settings
    this.#changed = changeSignal(settings.clock)
    this.#member = member
    this.#ledgers = ledgers
  }

  /**
   * Resolves when the broker has the position, or the partition is no longer ours. Rejects if the commit failed or took too
   * long; it is then retried later, if possible. A rebalance may take longer than an answer.
   */
  async committed(ledger: PartitionLedger, rebalanceMs: number): Promise<void> {
    const { clock, servers } = this.#settings
    const wanted = ledger.settledUpTo
    const before = this.#failed.get(ledger)
    const since = clock.monotonicMs()
    this.commit()
    for (;;) {
      const patienceMs = this.#member.mayCommit ? Math.min(answerMs, rebalanceMs) : rebalanceMs
      const [seen, leftMs] = [this.#changed.seen(), since + patienceMs - clock.monotonicMs()]
      if (!ledger.isOurs || ledger.committed >= wanted || this.#ended) return
      const failure = this.#failed.get(ledger)
      if (failure !== undefined && failure !== before) throw failure.error
      if (leftMs <= 0) {
        this.isLate = true
        const message = `The group at ${servers} did not take a position within ${patienceMs} ms.`
        throw new JustonceError('BROKER_UNREACHABLE', { message })
      }
      await this.#changed.since(seen, { ms: leftMs })
    }
  }

  /** Makes sure that everything settled is committed. */
  commit(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#uncommitted().length > 0 && this.#member.mayCommit && !this.#ended) this.commit()
    })
  }

  /** Called when partitions were added or removed, or the group accepts positions again. */
  look(): void {
    this.#changed.announce()
    if (this.#uncommitted().length > 0) this.commit()
  }

  end(): void {
    this.#ended = true
    this.#changed.announce()
  }

  async #run(): Promise<void> {
    const { clock, onError } = this.#settings
    let failures = 0
    // Everything settled in the same tick goes into the same request.
    await Promise.resolve()
    while (!this.#ended && this.#member.mayCommit) {
      const ledgers = this.#uncommitted()
      if (ledgers.length === 0) return
      const offsets = ledgers.map((ledger) => ({
        topic: ledger.topic,
        partition: ledger.partition,
        offset: ledger.settledUpTo,
        leaderEpoch: ledger.settledEpoch,
      }))
      try {
        await this.#member.commit(offsets)
        for (const [index, ledger] of ledgers.entries()) this.#took(ledger, offsets[index]?.offset)
        failures = 0
        this.#changed.announce()
      } catch (error) {
        onError(error)
        const refused = notTaken(error)
        if (refused.length === 0) this.isLate = true
        for (const [index, ledger] of ledgers.entries()) {
          const isRefused = refused.some(
            ({ topic, partition }) => topic === ledger.topic && partition === ledger.partition,
          )
          if (refused.length > 0 && !isRefused) this.#took(ledger, offsets[index]?.offset)
          else this.#refused(ledger, error, isRefused)
        }
        this.#changed.announce()
        if (refused.length === 0) await clock.sleep(backoffMs(failures++, clock))
      }
    }
  }

  #took(ledger: PartitionLedger, offset: bigint | undefined): void {
    this.isLate = false
    ledger.committed = offset ?? ledger.committed
    this.#failed.delete(ledger)
  }

  /** If only this partition was refused, it is retried later, and the others continue at once without it. */
  #refused(ledger: PartitionLedger, error: unknown, isAlone: boolean): void {
    const { clock } = this.#settings
    const count = (this.#failed.get(ledger)?.count ?? 0) + 1
    const untilMs = isAlone ? clock.monotonicMs() + backoffMs(count, clock) : 0
    this.#failed.set(ledger, { error, count, untilMs })
  }

  #uncommitted(): PartitionLedger[] {
    const now = this.#settings.clock.monotonicMs()
    return [...this.#ledgers()].filter(
      (ledger) =>
        ledger.isOurs && ledger.settledUpTo > ledger.committed && (this.#failed.get(ledger)?.untilMs ?? 0) <= now,
    )
  }
}
