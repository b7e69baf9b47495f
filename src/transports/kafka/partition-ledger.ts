import type { FetchedRecord } from './committed-records.ts'

/** One fetched record, from when it came until everything before it is settled too. */
export interface Slot {
  /** Gone when it is settled: what waits for others before it need not be kept in memory. */
  fetched: FetchedRecord | undefined
  /** Where reading stood before it; undefined: nothing was stored, and this is the first. */
  readonly from: bigint | undefined
  /** Where to go on when it has been handled. */
  readonly next: bigint
  readonly suspect: boolean
  readonly ledger: PartitionLedger
  /** Of the delivery that it is out with. */
  receipt: object | undefined
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
  readonly #over = new AbortController()
  #suspects: number
  /** Where the last record ends. */
  #last: bigint | undefined
  #slots: Slot[] = []
  #settledUpTo: bigint
  #waiting = 0
  #out = 0
  #bytes = 0
  /** Keys of which something was given back: it must not come before those of its key that are still out. */
  readonly #back = new Set<string>()

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

  /** Of the bodies that are in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** Where the store stands when all that was read is settled; undefined: nowhere yet. */
  get storedUpTo(): bigint | undefined {
    return this.#last
  }

  /** Nothing was read that is not settled. */
  get isIdle(): boolean {
    return this.#slots.length === 0
  }

  /** Aborted when the partition is no longer ours. */
  get ended(): AbortSignal {
    return this.#over.signal
  }

  end(): void {
    this.isOurs = false
    this.#over.abort()
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
      this.#bytes += bytesOf(fetched)
      const suspect = this.#suspects > 0
      if (suspect) this.#suspects--
      const from = this.#last
      this.#slots.push({ fetched, from, next: after, suspect, ledger: this, receipt: undefined, state: 'waiting' })
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
    const closed = this.#closedKeys()
    for (const slot of this.#slots) {
      if (taken.length >= limit) break
      const key = closed === undefined ? undefined : keyOf(slot)
      if (slot.state !== 'waiting' || (key !== undefined && closed?.has(key))) continue
      slot.state = 'out'
      taken.push(slot)
    }
    this.#waiting -= taken.length
    this.#out += taken.length
    return taken
  }

  done(slot: Slot): void {
    slot.state = 'done'
    this.#bytes -= bytesOf(slot.fetched)
    slot.fetched = undefined
    slot.receipt = undefined
    this.#out--
    this.#advance()
  }

  giveBack(slot: Slot): void {
    const key = keyOf(slot)
    if (key !== undefined) this.#back.add(key)
    slot.state = 'waiting'
    slot.receipt = undefined
    this.#out--
    this.#waiting++
  }

  /** Of those that were given back, the keys of which something is out; undefined: none. */
  #closedKeys(): ReadonlySet<string> | undefined {
    if (this.#back.size === 0) return undefined
    const out = new Set(this.#slots.flatMap((slot) => (slot.state === 'out' ? (keyOf(slot) ?? []) : [])))
    for (const key of this.#back) if (!out.has(key)) this.#back.delete(key)
    return this.#back.size === 0 ? undefined : new Set(this.#back)
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

function keyOf({ fetched }: Slot): string | undefined {
  return fetched?.record.key?.toString('latin1')
}

function bytesOf(fetched: FetchedRecord | undefined): number {
  return fetched?.record.value?.byteLength ?? 0
}
