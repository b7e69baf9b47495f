import { randomUUID } from 'node:crypto'
import type { Clock, InboxRecord, PackedMessage, Position, StoredParkedMessage } from '../../contracts/index.ts'
import type { FactRow } from '../../facts/index.ts'
import { FairMutex } from '../shared/fair-mutex.ts'
import { NestedTurns } from '../shared/nested-turns.ts'
import { systemTimers } from '../shared/system-timers.ts'
import { Table } from './table.ts'

/** What a `MemoryDatabase` takes. */
export interface MemoryDatabaseOptions {
  /** The time for deadlines, delays and leases. Default: the real time. */
  readonly clock?: Pick<Clock, 'now' | 'timer' | 'monotonicMs'> | undefined
  /** How long one transaction may make the others wait before they fail as a conflict. Default 10 000. */
  readonly busyTimeoutMs?: number | undefined
}

export interface QueueRow {
  readonly sequence: number
  readonly queue: string
  readonly key: string | undefined
  readonly message: PackedMessage
  readonly deliveries: number
  readonly visibleAt: number
  readonly sentAt: number
}

export type ParkedRow = StoredParkedMessage

export interface InboxRow extends InboxRecord {
  readonly born: Date | undefined
}

/** The data that several memory stores can share, as several processes share a database. */
export class MemoryDatabase {
  /** Identifies this database to a hot side, which outlives it and may serve several. */
  readonly id = randomUUID()
  readonly inbox = new Table<InboxRow>()
  readonly parked = new Table<ParkedRow>()
  readonly queue = new Table<QueueRow>()
  /** What handlers write through `tx`. */
  readonly values = new Table<{ readonly value: unknown }>()
  readonly epoch = new Table<string>()
  readonly facts = new Table<FactRow>()
  /** The horizon, and what is known about the clock it is based on. */
  readonly horizon = new Table<number>()
  readonly positions = new Table<Position>()
  readonly turns: FairMutex
  readonly savepointTurns: NestedTurns
  readonly listeners = new Set<{ readonly queue: string; wake(): void }>()
  readonly #clock: Pick<Clock, 'now' | 'timer' | 'monotonicMs'>
  #numbers = 0

  constructor({ clock, busyTimeoutMs = 10_000 }: MemoryDatabaseOptions = {}) {
    this.#clock = clock ?? { now: () => new Date(), ...systemTimers }
    this.turns = new FairMutex(this.#clock, busyTimeoutMs)
    this.savepointTurns = new NestedTurns(this.#clock, busyTimeoutMs)
  }

  now(): number {
    return this.#clock.now().getTime()
  }

  /** Never repeats a number, even if the transaction that asked is rolled back. */
  nextNumber(): number {
    return ++this.#numbers
  }

  get depth(): number {
    return this.inbox.depth
  }

  push(): void {
    for (const table of this.#tables()) table.push()
  }

  keepTo(depth: number): void {
    for (const table of this.#tables()) table.keepTo(depth)
  }

  undoTo(depth: number): void {
    for (const table of this.#tables()) table.undoTo(depth)
  }

  /** A copy of the committed value of one key. */
  committedValue(key: string): unknown {
    return structuredClone(this.values.committed(key)?.value)
  }

  #tables(): Table<unknown>[] {
    return Object.values(this).filter((value) => value instanceof Table)
  }
}
