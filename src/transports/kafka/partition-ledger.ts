import { type FetchedRecord, noEpoch } from './committed-records.ts'

/** One fetched record, kept until it and everything before it is settled. */
export interface Slot {
  /** Dropped once it is settled: a slot that waits for earlier ones need not stay in memory. */
  fetched: FetchedRecord | undefined
  /** The position before this record. `undefined` if nothing was stored and this is the first one. */
  readonly from: bigint | undefined
  /** The position after this record. */
  readonly next: bigint
  /** Of the leader that appended what is before that position. */
  readonly epoch: number
  readonly suspect: boolean
  readonly ledger: PartitionLedger
  /** The receipt of its current delivery. */
  receipt: object | undefined
  state: 'waiting' | 'out' | 'done'
}

/**
 * What is known of the broker's leader epochs. `kept`: it has taken one, or the group has one, so it knows each that it has sent,
 * and where it refuses one its log is another. `refused`: that has happened once. `ignored`: it refuses what it sends itself.
 */
type Epochs = 'untried' | 'kept' | 'refused' | 'ignored'

export interface LedgerStart {
  readonly topic: string
  readonly partition: number
  readonly topicId: string
  readonly position: bigint
  /** Of the leader that appended what is before `position`, if it is known. */
  readonly epoch?: number
  /** Default: as little as can be said of `epoch`. */
  readonly epochs?: Epochs
  /** The group's position, if it differs from `position`. */
  readonly committed?: bigint
  /** The position in the store, if positions are kept there. */
  readonly stored?: bigint | undefined
  /** How many of the first records a process that died may have had in hand. */
  readonly suspects: number
}

/**
 * The state of one partition while it is assigned. Only a prefix in which everything is settled is ever
 * committed, so nothing unsettled can be skipped.
 */
export class PartitionLedger {
  readonly topic: string
  readonly partition: number
  readonly topicId: string
  /** The offset to fetch next. */
  position: bigint
  /** Of the leader that appended what is before that: another leader can tell by it whether it has what we have read. */
  epoch: number
  #epochs: Epochs
  /** The position that the broker has. */
  committed: bigint
  /** False once the partition is given up or lost. Settling its deliveries then has no effect. */
  isOurs = true
  readonly #over = new AbortController()
  #suspects: number
  /** The position after the last record. */
  #last: bigint | undefined
  #slots: Slot[] = []
  #settledUpTo: bigint
  #settledEpoch: number
  #waiting = 0
  #out = 0
  #bytes = 0
  /** Keys with a record that was given back. It must not be delivered before those of its key that are still out. */
  readonly #back = new Set<string>()

  constructor(start: LedgerStart) {
    const { topic, partition, topicId, position, epoch = noEpoch, committed = position, stored, suspects } = start
    this.topic = topic
    this.partition = partition
    this.topicId = topicId
    this.position = position
    this.epoch = epoch
    this.#epochs = start.epochs ?? (epoch === noEpoch ? 'untried' : 'kept')
    this.committed = committed
    this.#settledUpTo = position
    this.#settledEpoch = epoch
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

  /** The total size of the records in memory. */
  get bytes(): number {
    return this.#bytes
  }

  /** The position in the store once everything read is settled. `undefined` if there is none yet. */
  get storedUpTo(): bigint | undefined {
    return this.#last
  }

  /** Whether everything that was read is settled. */
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

  /** How many records lie between the first unsettled and the last delivered one. After a crash, those are redelivered. */
  get spread(): number {
    return this.#slots.length - this.#waiting
  }

  /** The position that may be committed. */
  get settledUpTo(): bigint {
    return this.#settledUpTo
  }

  /** Belongs to that position. */
  get settledEpoch(): number {
    return this.#epochs === 'ignored' ? noEpoch : this.#settledEpoch
  }

  /** Whether the log is another one if the broker refuses our epoch. */
  get keepsEpochs(): boolean {
    return this.#epochs === 'kept'
  }

  /** The broker has answered a fetch from here. */
  tookEpoch(): void {
    if (this.epoch !== noEpoch && this.#epochs === 'untried') this.#epochs = 'kept'
  }

  ignoreEpochs(): void {
    this.#epochs = 'ignored'
    this.epoch = noEpoch
    // The group must not keep one either: commit again.
    this.committed = -1n
  }

  add(records: readonly FetchedRecord[], next: bigint, epoch: number = noEpoch): void {
    for (const [index, fetched] of records.entries()) {
      const isLast = index === records.length - 1
      const after = isLast ? next : fetched.offset + 1n
      const its = isLast ? epoch : fetched.epoch
      this.#bytes += bytesOf(fetched)
      const suspect = this.#suspects > 0
      if (suspect) this.#suspects--
      const from = this.#last
      const place = { fetched, from, next: after, epoch: its, suspect }
      this.#slots.push({ ...place, ledger: this, receipt: undefined, state: 'waiting' })
      this.#last = after
    }
    this.#waiting += records.length
    this.position = next
    this.epoch = this.#epochs === 'ignored' ? noEpoch : epoch
    this.#advance()
  }

  /** Skips records that no longer exist. */
  skipTo(position: bigint): void {
    this.position = position
    this.epoch = noEpoch
    this.#advance()
  }

  /** Takes the next records in order. They count as delivered from now on. */
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

  /** The keys of returned records that still have a record out. `undefined` if there are none. */
  #closedKeys(): ReadonlySet<string> | undefined {
    if (this.#back.size === 0) return undefined
    const out = new Set(this.#slots.flatMap((slot) => (slot.state === 'out' ? (keyOf(slot) ?? []) : [])))
    for (const key of this.#back) if (!out.has(key)) this.#back.delete(key)
    return this.#back.size === 0 ? undefined : new Set(this.#back)
  }

  #advance(): void {
    let settled = 0
    while (this.#slots[settled]?.state === 'done') settled++
    const last = this.#slots[settled - 1]
    if (last !== undefined) [this.#settledUpTo, this.#settledEpoch] = [last.next, last.epoch]
    this.#slots.splice(0, settled)
    // Includes markers and gaps behind the last record.
    if (this.#slots.length === 0) [this.#settledUpTo, this.#settledEpoch] = [this.position, this.epoch]
  }
}

function keyOf({ fetched }: Slot): string | undefined {
  return fetched?.record.key?.toString('latin1')
}

/** All of it: a producer may put as much into keys and headers as into bodies. */
function bytesOf(fetched: FetchedRecord | undefined): number {
  if (fetched === undefined) return 0
  const { key, value, headers } = fetched.record
  let bytes = (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
  for (const [name, content] of headers) bytes += (name?.byteLength ?? 0) + (content?.byteLength ?? 0)
  return bytes
}
