import { backoffMs, type ChangeSignal, changeSignal, inTime } from '../../clock/index.ts'
import type { Delivery, Restore, Settlement } from '../../contracts/index.ts'
import { AssignedPartitions } from './assigned-partitions.ts'
import { asSetupError, isOfOneTopic, unreachable } from './client-errors.ts'
import type { FetchedRecord } from './committed-records.ts'
import { Committer } from './committer.ts'
import { Fetcher } from './fetching.ts'
import { GroupMember } from './group-member.ts'
import type { PartitionLedger, Slot } from './partition-ledger.ts'
import { readRecord } from './read-record.ts'
import { farewellMs, type KafkaSettings, whereOf } from './settings.ts'
import { TopicWatch } from './topic-watch.ts'

export interface SessionOptions {
  readonly maxInFlight: number
  readonly maxBytes?: number | undefined
  readonly restore: Restore | undefined
  /** Called when the group has assigned our partitions. */
  readonly connected?: (() => void) | undefined
}

/** Identifies one delivery of a slot. The next delivery of the slot has another receipt. */
interface Receipt {
  readonly slot: Slot
  readonly session: Session
}

/** One membership in the group, from the start of reading until everything delivered is settled. */
export class Session {
  readonly #settings: KafkaSettings
  readonly #maxInFlight: number
  readonly #maxBytes: number
  /** How far an unsettled message may lie behind the last delivered one. */
  readonly #maxSpread: number
  readonly #member: GroupMember
  readonly #fetcher: Fetcher
  readonly #committer: Committer
  readonly #partitions: AssignedPartitions
  readonly #topics: TopicWatch
  readonly #changed: ChangeSignal
  #state: 'reading' | 'handing-over' | 'handed-over' = 'reading'
  #handingOver: Promise<void> | undefined
  #isRetiring = false
  #closing: Promise<void> | undefined
  #failure: unknown

  constructor(
    settings: KafkaSettings,
    { maxInFlight, maxBytes = Number.POSITIVE_INFINITY, restore, connected }: SessionOptions,
  ) {
    this.#settings = settings
    this.#changed = changeSignal(settings.clock)
    this.#maxInFlight = maxInFlight
    this.#maxBytes = maxBytes
    // With key lanes, settled messages behind a slow key are redelivered after a crash. This limits how many.
    this.#maxSpread = maxInFlight * (settings.lanes === 'key' ? 10 : 1)
    const changed = (): void => {
      this.#changed.announce()
      this.#committer.look()
    }
    const failOrReport = (error: unknown, failures: number): void => this.#failOrReport(error, failures)
    this.#member = new GroupMember(settings, {
      handOver: (hasLostAll) => this.#handOver(hasLostAll),
      assigned: (assignment) => {
        this.#state = 'reading'
        this.#partitions.assign(assignment)
        connected?.()
      },
      failed: failOrReport,
    })
    this.#fetcher = new Fetcher(settings, {
      wanted: () => this.#withRoom(),
      room: () => this.#maxBytes - this.#partitions.bytes(),
      fetched: changed,
      saw: (metadata) => {
        this.#partitions.compare(metadata)
        const lookAgain = () => this.#fetcher.metadata(true)
        this.#member.compare(metadata, lookAgain).catch((error: unknown) => settings.onError(error))
      },
      outOfRange: (ledger, cut) => this.#partitions.findAgain(ledger, cut),
      isAll: (isTroubled) => this.#partitions.all().every(isTroubled),
      failed: (error, failures) => this.#fail(error, failures),
    })
    this.#topics = new TopicWatch({ settings, member: this.#member, fetcher: this.#fetcher })
    this.#committer = new Committer(settings, this.#member, () => this.#partitions.all())
    const [member, fetcher, suspects] = [this.#member, this.#fetcher, this.#maxSpread]
    this.#partitions = new AssignedPartitions({ settings, member, fetcher, restore, suspects, changed, failOrReport })
  }

  async *read(signal: AbortSignal): AsyncGenerator<readonly Delivery[], void, void> {
    signal.addEventListener('abort', this.#changed.announce)
    try {
      await this.#topics.look().catch((error: unknown) => {
        throw unreachable(error, whereOf(this.#settings))
      })
      void this.#member.join()
      void this.#keepFetching()
      for (;;) {
        const seen = this.#changed.seen()
        if (this.#failure !== undefined) throw this.#failure
        if (signal.aborted || this.#closing !== undefined) return
        const deliveries = this.#take()
        if (deliveries.length > 0) yield deliveries
        else await this.#changed.since(seen)
      }
    } finally {
      signal.removeEventListener('abort', this.#changed.announce)
      this.#isRetiring = true
    }
  }

  async settle(deliveries: readonly Delivery[], { kind }: Settlement): Promise<void> {
    const touched = new Set<PartitionLedger>()
    for (const receipt of this.#receiptsOf(deliveries)) {
      const { slot } = receipt
      if (slot.receipt !== receipt || !slot.ledger.isOurs) continue
      if (kind === 'done') slot.ledger.done(slot)
      else slot.ledger.giveBack(slot)
      touched.add(slot.ledger)
    }
    if (touched.size === 0) return
    this.#changed.announce()
    if (this.#committer.isLate && !this.#isRetiring) return this.#committer.commit()
    // A rebalance can take as long as the slowest member needs to hand over. A session that is retiring does not wait for that.
    const patienceMs = this.#isRetiring ? 3_000 : this.#settings.handOverMs + 10_000
    await Promise.all([...touched].map((ledger) => this.#committer.committed(ledger, patienceMs)))
  }

  reread(deliveries: readonly Delivery[]): void {
    const ledgers = new Set(this.#receiptsOf(deliveries).map(({ slot }) => slot.ledger))
    this.#partitions.reread([...ledgers].filter(({ isOurs }) => isOurs))
  }

  #receiptsOf(deliveries: readonly Delivery[]): readonly Receipt[] {
    return deliveries.map(({ receipt }) => receipt as Receipt).filter(({ session }) => session === this)
  }

  /** Leaves the group once everything delivered is settled. Until then, no other member may have it. */
  async retire(): Promise<void> {
    this.#isRetiring = true
    while (this.#partitions.out() > 0 && this.#closing === undefined && this.#failure === undefined) {
      await this.#changed.since(this.#changed.seen())
    }
    await this.close()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#changed.announce()
    await this.#allTold(2_000)
    this.#committer.end()
    this.#partitions.end()
    const { clock } = this.#settings
    const leaving = [this.#member.leave(), this.#fetcher.close()]
    const closings = await Promise.allSettled(leaving.map((each) => inTime(each, { clock, withinMs: farewellMs })))
    for (const closing of closings) if (closing.status === 'rejected') this.#settings.onError(closing.reason)
  }

  #take(): Delivery[] {
    let room = this.#maxInFlight - this.#partitions.out()
    if (this.#state !== 'reading' || this.#isRetiring || room < 1) return []
    const ledgers = this.#partitions.all().filter(({ waiting }) => waiting > 0)
    const deliveries: Delivery[] = []
    for (const [index, ledger] of ledgers.entries()) {
      const share = Math.ceil(room / (ledgers.length - index))
      const slots = ledger.take(Math.min(share, this.#mostOf(ledger, room), this.#maxSpread - ledger.spread))
      room -= slots.length
      deliveries.push(...slots.map((slot) => this.#deliver(slot)))
      this.#partitions.hadItsTurn(ledger)
    }
    return deliveries
  }

  /** A partition may be stuck, so it gets no more than it leaves to others that have messages, and never all there is. */
  #mostOf(ledger: PartitionLedger, room: number): number {
    const others = this.#partitions.all().filter((each) => each !== ledger)
    const kept = Math.floor(this.#maxInFlight / 16)
    // Too little to share.
    if (this.#settings.lanes === 'key' || others.length === 0 || kept === 0) return room
    if (others.every(({ waiting, out }) => waiting + out === 0)) return room - kept
    return Math.max(Math.floor((room - ledger.out) / 2), kept + 1 - ledger.out)
  }

  #deliver(slot: Slot): Delivery {
    const { ledger, from, next, suspect } = slot
    const fetched = slot.fetched as FetchedRecord
    const position = (offset: bigint) => ({ next: String(offset), incarnation: ledger.topicId })
    const place = {
      partition: String(ledger.partition),
      from: from === undefined ? undefined : position(from),
      to: position(next),
    }
    const receipt: Receipt = { slot, session: this }
    slot.receipt = receipt
    return {
      message: readRecord(fetched, ledger, this.#settings.reading),
      redelivered: suspect,
      ended: ledger.ended,
      ...(this.#settings.lanes === 'partition' && { lane: ledger.lane, place }),
      receipt,
    }
  }

  #withRoom(): readonly PartitionLedger[] {
    if (this.#state !== 'reading' || this.#isRetiring || this.#closing !== undefined) return []
    if (this.#partitions.bytes() >= this.#maxBytes) return []
    return this.#partitions.all().filter(({ waiting }) => waiting < this.#maxInFlight)
  }

  async #keepFetching(): Promise<void> {
    const { clock } = this.#settings
    for (let failures = 0; this.#closing === undefined && !this.#isRetiring; ) {
      const seen = this.#changed.seen()
      try {
        await this.#topics.lookForMissing()
        // Not awaited: the store may be down, and is asked again later.
        this.#partitions.lookAtStore().catch(this.#settings.onError)
        await this.#fetcher.fetch()
        failures = 0
      } catch (error) {
        if (this.#closing !== undefined) return
        this.#failOrReport(error, ++failures)
        await clock.sleep(backoffMs(failures, clock))
        continue
      }
      await this.#changed.since(seen, { ms: 5_000 })
    }
  }

  /** Finishes messages in progress before partitions go to other members, unless that takes too long. */
  #handOver(hasLostAll: boolean): Promise<void> {
    if (this.#state === 'reading') this.#handingOver = this.#finishForOthers(hasLostAll)
    return hasLostAll ? Promise.resolve() : (this.#handingOver ?? Promise.resolve())
  }

  async #finishForOthers(hasLostAll: boolean): Promise<void> {
    this.#state = 'handing-over'
    const { clock, handOverMs } = this.#settings
    const until = clock.monotonicMs() + (hasLostAll ? 0 : handOverMs)
    for (;;) {
      const [seen, leftMs] = [this.#changed.seen(), until - clock.monotonicMs()]
      if (this.#partitions.out() === 0 || leftMs <= 0 || this.#closing !== undefined) break
      await this.#changed.since(seen, { ms: leftMs })
    }
    if (!hasLostAll) await this.#allTold(2_000)
    this.#state = 'handed-over'
  }

  async #allTold(ms: number): Promise<void> {
    await Promise.allSettled(this.#partitions.all().map((ledger) => this.#committer.committed(ledger, ms)))
  }

  /** A broker that has just started may not know yet what the others know, so its answer counts only once it is repeated. */
  #failOrReport(error: unknown, failures: number): void {
    if (isOfOneTopic(error) && this.#topics.hasOthers) {
      this.#settings.onError(error)
      if (failures > 5) this.#topics.look().catch((found: unknown) => this.#fail(found, failures))
      this.#changed.announce()
    } else this.#fail(error, failures)
  }

  #fail(error: unknown, failures: number): void {
    const setup = asSetupError(error, whereOf(this.#settings))
    if (setup !== undefined && (setup === error || failures > 5)) this.#failure ??= setup
    else this.#settings.onError(error)
    this.#changed.announce()
  }
}
