import type { Clock, RecordKey } from '../../contracts/index.ts'
import { sameFingerprint } from '../../encoding/fingerprint.ts'

interface Entry {
  readonly fingerprint: Uint8Array | undefined
  readonly at: number
}

/** By handler, then by key. */
type Entries = Map<string, Map<string, Entry>>

/**
 * Remembers commits that this engine saw succeed, so that a duplicate shortly afterwards costs nothing. It may only
 * ever say "already processed", and only while the store has recently confirmed that no record was forgotten or lost:
 * every claim returns the epoch, and a changed epoch clears the memory.
 */
export class RecentCommits {
  // Two halves: when the newer one is full, the older one is dropped as a whole, which is cheaper than evicting entries singly.
  #newer: Entries = new Map()
  #newerSize = 0
  #older: Entries = new Map()
  #epoch: string | undefined
  #epochSeenAt = Number.NEGATIVE_INFINITY
  readonly #clock: Clock
  readonly #options: { readonly capacity: number; readonly lifeMs: number; readonly trustMs: number }

  constructor(clock: Clock, options = { capacity: 100_000, lifeMs: 60_000, trustMs: 1_000 }) {
    this.#clock = clock
    this.#options = options
  }

  knows({ handler, key }: RecordKey, fingerprint: Uint8Array | undefined): boolean {
    const now = this.#clock.monotonicMs()
    if (now - this.#epochSeenAt > this.#options.trustMs) return false
    const entry = this.#newer.get(handler)?.get(key) ?? this.#older.get(handler)?.get(key)
    if (entry === undefined || now - entry.at > this.#options.lifeMs) return false
    // Only the store may decide that a key was reused.
    return sameFingerprint(entry.fingerprint, fingerprint)
  }

  /** The epoch, if the store has recently confirmed it. */
  trustedEpoch(): string | undefined {
    const isFresh = this.#clock.monotonicMs() - this.#epochSeenAt <= this.#options.trustMs
    return isFresh ? this.#epoch : undefined
  }

  /** Notes the epoch that a claim has just read. */
  sawEpoch(epoch: string): void {
    if (epoch !== this.#epoch) this.clear()
    this.#epoch = epoch
    this.#epochSeenAt = this.#clock.monotonicMs()
  }

  /** Notes a commit that was seen to succeed and whose claim read `epoch`. */
  remember({ handler, key }: RecordKey, fingerprint: Uint8Array | undefined, epoch: string): void {
    if (epoch !== this.#epoch) return
    if (this.#newerSize >= this.#options.capacity / 2) {
      this.#older = this.#newer
      this.#newer = new Map()
      this.#newerSize = 0
    }
    let ofHandler = this.#newer.get(handler)
    if (ofHandler === undefined) {
      ofHandler = new Map()
      this.#newer.set(handler, ofHandler)
    }
    ofHandler.set(key, { fingerprint, at: this.#clock.monotonicMs() })
    this.#newerSize++
  }

  clear(): void {
    this.#newer = new Map()
    this.#newerSize = 0
    this.#older = new Map()
  }
}
