import type { Clock, RecordKey } from '../contracts/index.ts'
import { sameFingerprint } from '../encoding/fingerprint.ts'

interface Entry {
  readonly fingerprint: Uint8Array | undefined
  readonly at: number
}

/**
 * Remembers commits that this engine itself saw succeed, so that a duplicate shortly after costs nothing. It may only
 * ever say "already processed", and only while the store has lately confirmed that no record was forgotten or lost:
 * the epoch comes with every claim, and a changed one empties the memory.
 */
export class RecentCommits {
  readonly #entries = new Map<string, Entry>()
  #epoch: string | undefined
  #epochSeenAt = Number.NEGATIVE_INFINITY
  readonly #clock: Clock
  readonly #options: { readonly capacity: number; readonly lifeMs: number; readonly trustMs: number }

  constructor(clock: Clock, options = { capacity: 100_000, lifeMs: 60_000, trustMs: 1_000 }) {
    this.#clock = clock
    this.#options = options
  }

  knows(key: RecordKey, fingerprint: Uint8Array | undefined): boolean {
    const now = this.#clock.monotonicMs()
    if (now - this.#epochSeenAt > this.#options.trustMs) return false
    const entry = this.#entries.get(name(key))
    if (entry === undefined || now - entry.at > this.#options.lifeMs) return false
    // Different content under one key is a conflict, and only the store may say so.
    return sameFingerprint(entry.fingerprint, fingerprint)
  }

  /** The epoch that a claim has just read. */
  sawEpoch(epoch: string): void {
    if (epoch !== this.#epoch) this.#entries.clear()
    this.#epoch = epoch
    this.#epochSeenAt = this.#clock.monotonicMs()
  }

  /** A commit seen to succeed, whose claim read `epoch`. */
  remember(key: RecordKey, fingerprint: Uint8Array | undefined, epoch: string): void {
    if (epoch !== this.#epoch) return
    const id = name(key)
    this.#entries.delete(id)
    this.#entries.set(id, { fingerprint, at: this.#clock.monotonicMs() })
    if (this.#entries.size > this.#options.capacity) {
      this.#entries.delete(this.#entries.keys().next().value as string)
    }
  }

  clear(): void {
    this.#entries.clear()
  }
}

function name(key: RecordKey): string {
  return `${key.handler}\0${key.key}`
}
