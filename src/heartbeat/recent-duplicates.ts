import type { Clock, JustonceEvent } from '../contracts/index.ts'
import { packDuplicates, type SeenDuplicate } from '../facts/index.ts'

const mostKept = 300
/** Many duplicates are a large value, so it is not written with every heartbeat. */
const everyMs = 15_000

/** The latest duplicates that this process has seen. */
export class RecentDuplicates {
  readonly #clock: Clock
  #seen: SeenDuplicate[] = []
  #isNew = false
  #savedAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `at` is the database's time. */
  saw(event: JustonceEvent & { readonly kind: 'duplicate' }, at: number): void {
    const { handler, key, messageId, type, source, redelivered, deliveries, from } = event
    const about = { handler, key, messageId, type, source, redelivered, deliveries }
    this.#seen.push({ ...about, at: new Date(at), recognisedBy: from })
    if (this.#seen.length > mostKept * 2) this.#seen = this.#seen.slice(-mostKept)
    this.#isNew = true
  }

  /** What is to be saved now, if anything is. */
  toSave({ isLast = false }: { readonly isLast?: boolean } = {}): string | undefined {
    if (!this.#isNew) return undefined
    const now = this.#clock.monotonicMs()
    if (!isLast && now - this.#savedAt < everyMs) return undefined
    this.#savedAt = now
    this.#isNew = false
    return packDuplicates(this.#seen.slice(-mostKept))
  }
}
