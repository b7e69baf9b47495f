import type { Delivery } from '../../contracts/index.ts'
import type { FetchedRecord } from './committed-records.ts'

/** One fetched record, from when it came until everything before it is settled too. */
export interface Slot {
  readonly fetched: FetchedRecord
  /** Where reading stood before it; undefined: nothing was stored, and this is the first. */
  readonly from: bigint | undefined
  /** Where to go on when it has been handled. */
  readonly next: bigint
  readonly suspect: boolean
  readonly ledger: PartitionLedger
  delivery: Delivery | undefined
  state: 'waiting' | 'out' | 'done'
}

export interface LedgerStart {
  readonly topic: string
  readonly partition: number
  readonly topicId: string
  readonly position: bigint
  /** What the group has, where that is not the position. */
  readonly committed?: bigint
  /** What is stored elsewhere, where that says where to begin. */
  readonly stored?: bigint | undefined
  /** How many of the first records may have been with a process that died. */
  readonly suspects: number
}

/**
 * What is known of one partition for as long as it is assigned: an incarnation. Only a prefix in which everything is
 * settled is ever committed, so that nothing unsettled can be skipped.
 */
export class PartitionLedger {
  readonly topic: string
  readonly partition: number
  readonly topicId: string
  /** Where to go on fetching. */
  position: bigint
  /** What the broker was told, or said. */
  committed: bigint
  /** False from the moment the partition is given up or was lost: settling its deliveries then does nothing. */
  isOurs = true
  #suspects: number
  /** Where the last record ends. */
  #last: bigint | undefined
  #slots: Slot[] = []
  #settledUpTo: bigint
  #waiting = 0
  #out = 0

  constructor({ topic, partition, topicId, position, committed = position, stored, suspects }: LedgerStart) {
    this.topic = topic
    this.partition = partition
    this.topicId = topicId
    this.position = position
    this.committed = committed
    this.#settledUpTo = position
    this.#last = stored
    this.#suspects = suspects
  }

  get lane(): string {
    return `${this.topic}/${this.partition}`
  }

  get waiting(): number {
    return this.#waiting
  }

  get out(): number {
    return this.#out
  }

  /** From the first that is not settled to the last that was delivered; what a crash now would bring again. */
  get spread(): number {
    return this.#slots.length - this.#waiting
  }

  /** What may be committed. */
  get settledUpTo(): bigint {
    return this.#settledUpTo
  }

  add(records: readonly FetchedRecord[], next: bigint): void {
    for (const [index, fetched] of records.entries()) {
      const after = index === records.length - 1 ? next : fetched.offset + 1n
      const suspect = this.#suspects > 0
      if (suspect) this.#suspects--
      const from = this.#last
      this.#slots.push({ fetched, from, next: after, suspect, ledger: this, delivery: undefined, state: 'waiting' })
      this.#last = after
    }
    this.#waiting += records.length
    this.position = next
    this.#advance()
  }

  /** What lies between is gone. */
  skipTo(position: bigint): void {
    this.position = position
    this.#advance()
  }

  /** The next ones in order, which count as delivered from now on. */
  take(limit: number): Slot[] {
    const taken: Slot[] = []
    if (this.#waiting === 0 || limit < 1) return taken
    for (const slot of this.#slots) {
      if (taken.length >= limit) break
      if (slot.state !== 'waiting') continue
      slot.state = 'out'
      taken.push(slot)
    }
    this.#waiting -= taken.length
    this.#out += taken.length
    return taken
  }

  done(slot: Slot): void {
    slot.state = 'done'
    slot.delivery = undefined
    this.#out--
    this.#advance()
  }

  giveBack(slot: Slot): void {
    slot.state = 'waiting'
    slot.delivery = undefined
    this.#out--
    this.#waiting++
  }

  #advance(): void {
    let settled = 0
    while (this.#slots[settled]?.state === 'done') settled++
    if (settled > 0) this.#settledUpTo = (this.#slots[settled - 1] as Slot).next
    this.#slots.splice(0, settled)
    // Past markers and gaps behind the last record too.
    if (this.#slots.length === 0) this.#settledUpTo = this.position
  }
}
