import type { ParkedChange, StoredParkedMessage } from '../contracts/index.ts'
import { effectOf } from '../encoding/intent-name.ts'
import type { Engine } from '../engine/engine.ts'
import { databaseNow } from '../facts/index.ts'

/** What was stored further in the future than this was stored by a clock that was wrong, unless the clock is wrong now. */
const aheadMs = 600_000
/** What was to wait longer stays as it is: if it is the present clock that is wrong, by being behind, this much too early is the worst. */
const longestWaitMs = 600_000
/** They are rare, and looking for them reads all intents that wait. */
const lookAgainMs = 600_000
const atOnce = 100

/**
 * Brings forward what was stored while the database's clock was ahead: it would otherwise wait until that time has come. The row says
 * when it was stored and when it was to be called, and so for how long it was to wait. Of an attempt that has begun nothing is known, so that
 * stays as it is.
 */
export class StoredAhead<Tx> {
  readonly #engine: Engine<Tx>
  readonly #handlers: readonly string[]
  readonly #toldOf = new Set<string>()
  #notBefore = Number.NEGATIVE_INFINITY

  constructor(engine: Engine<Tx>, handlers: readonly string[]) {
    this.#engine = engine
    this.#handlers = handlers
  }

  async lookNowAndThen(): Promise<void> {
    const { clock, store } = this.#engine
    if (clock.monotonicMs() < this.#notBefore) return
    this.#notBefore = clock.monotonicMs() + lookAgainMs
    const since = new Date((await databaseNow(store)).getTime() + aheadMs)
    for (const handler of this.#handlers) await this.#look(handler, since)
  }

  async #look(handler: string, since: Date): Promise<void> {
    const { store } = this.#engine
    const filter = { kind: 'intent', state: 'waiting', handler, since } as const
    for (let after = 0; ; ) {
      const rows = await store.parking.list(filter, { limit: atOnce, after })
      const late = rows.filter(({ begun, nextAt }) => begun === 0 && nextAt >= since)
      const short = late.filter((row) => waitOf(row) <= longestWaitMs)
      if (short.length > 0) await this.#bringForward(handler, short)
      if (late.length > short.length) this.#tellOfOthers(handler)
      if (rows.length < atOnce) return
      after = (rows.at(-1) as StoredParkedMessage).sequence
    }
  }

  async #bringForward(handler: string, rows: readonly StoredParkedMessage[]): Promise<void> {
    const { store } = this.#engine
    const count = await store.transaction(async (tx) => {
      // Nothing is changed of what another process has reserved, tried or changed since it was read.
      const taken = await store.parking.take(tx, rows)
      const ours = rows.filter((_, index) => taken[index] === true)
      if (ours.length > 0) await store.parking.change(tx, ours.map(asIntended))
      return ours.length
    })
    if (count > 0) this.#warn(`${count} calls of ${effectOf(handler)} are brought forward: they were stored`)
  }

  #tellOfOthers(handler: string): void {
    if (this.#toldOf.has(handler)) return
    this.#toldOf.add(handler)
    this.#warn(`Calls of ${effectOf(handler)} will be made as much too late as the clock was ahead: they were stored`)
  }

  #warn(said: string): void {
    const message = `${said} while the database's clock was ahead of what it says now.`
    this.#engine.events.emit({ kind: 'warning', code: 'CLOCK_JUMPED', message })
  }
}

/** For how long it was to wait when it was stored or last changed. */
function waitOf({ nextAt, changedAt }: StoredParkedMessage): number {
  return nextAt.getTime() - changedAt.getTime()
}

function asIntended(row: StoredParkedMessage): ParkedChange {
  const { handler, key, attempts, reason, errors, shape } = row
  return { handler, key, kind: 'again', attempts, delayMs: Math.max(0, waitOf(row)), reason, errors, shape }
}
