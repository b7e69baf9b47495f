import type { StoredParkedMessage } from '../contracts/index.ts'
import { effectOf } from '../encoding/intent-name.ts'
import type { Engine } from '../engine/engine.ts'
import { isJustonceError } from '../errors/index.ts'
import { attemptsOf } from './intent-row.ts'
import { reportEnding } from './report-ending.ts'
import { type Ending, settleIntents } from './settle-intents.ts'

/** Few enough that one that fails does not hold up many. */
const atOnce = 50
const leastPauseMs = 100
const mostPauseMs = 5_000
/** How often the store is tried after the app was stopped. */
const triesAfterStop = 3

interface Unfinished {
  readonly ending: Ending
  /** The answer to a commit was lost, so its row may be gone because of us. */
  readonly isUnsure: boolean
  readonly tries: number
}

/**
 * Stores how attempts have ended, several in one transaction. What is known about a call must not be lost because the store is away
 * for a moment: it is tried until it works.
 */
export class Finisher<Tx> {
  readonly #engine: Engine<Tx>
  readonly #failed: (error: unknown) => void
  readonly #stopping: AbortSignal
  #queue: Unfinished[] = []
  #draining: Promise<void> | undefined

  constructor(engine: Engine<Tx>, { failed, stopping }: { failed(error: unknown): void; stopping: AbortSignal }) {
    this.#engine = engine
    this.#failed = failed
    this.#stopping = stopping
  }

  add(ending: Ending): void {
    this.#queue.push({ ending, isUnsure: false, tries: 0 })
    this.#draining ??= this.#drain()
  }

  /** Resolves when nothing is left to store. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  async #drain(): Promise<void> {
    let failures = 0
    while (this.#queue.length > 0) {
      // After a failure one by one: one that cannot be stored must not hold up the others.
      const some = this.#next(failures > 0 ? 1 : atOnce)
      try {
        const again = await this.#settle(some)
        failures = 0
        this.#queue.push(...again)
        if (again.length > 0) await this.#pause(leastPauseMs)
      } catch (error) {
        this.#failed(error)
        failures++
        const isUnsure = isJustonceError(error, 'COMMIT_UNKNOWN')
        const left = some.map((each) => ({ ...each, isUnsure: each.isUnsure || isUnsure, tries: each.tries + 1 }))
        this.#queue.push(...left.filter(({ tries }) => !this.#stopping.aborted || tries < triesAfterStop))
        await this.#pause(Math.min(leastPauseMs * 2 ** Math.min(failures, 10), mostPauseMs))
      }
    }
    this.#draining = undefined
  }

  /** At most one ending of each intent: a late one meets the row as the first has left it. */
  #next(limit: number): readonly Unfinished[] {
    const rows = new Set<string>()
    const next = this.#queue.filter(({ ending: { letter } }) => {
      const name = `${letter.handler} ${letter.key}`
      if (rows.size >= limit || rows.has(name)) return false
      rows.add(name)
      return true
    })
    this.#queue = this.#queue.filter((each) => !next.includes(each))
    return next
  }

  #pause(ms: number): Promise<void> {
    return this.#engine.clock.sleep(ms)
  }

  /** Resolves to those that must be tried again. */
  async #settle(some: readonly Unfinished[]): Promise<readonly Unfinished[]> {
    const { store } = this.#engine
    const tickets = some.map(({ ending: { letter, revision } }) => ({
      handler: letter.handler,
      key: letter.key,
      revision,
    }))
    const taken = await store.transaction(async (tx) => {
      const answers = await store.parking.take(tx, tickets)
      const ours = some.filter((_, index) => answers[index] === true).map(({ ending }) => ending)
      if (ours.length > 0) await settleIntents(this.#engine, tx, ours)
      return answers
    })
    for (const [index, { ending }] of some.entries()) if (taken[index]) reportEnding(this.#engine, ending)
    const again: Unfinished[] = []
    for (const [index, each] of some.entries()) {
      if (taken[index]) continue
      const next = await this.#lookAgain(each)
      if (next !== undefined) again.push(next)
    }
    return again
  }

  /**
   * Somebody else has changed the row, because the lease had expired. What is certain is accepted as long as no later attempt has
   * begun. Otherwise it contradicts what others have decided, and is only reported.
   */
  async #lookAgain({ ending, isUnsure, tries }: Unfinished): Promise<Unfinished | undefined> {
    const { store, events } = this.#engine
    const { handler, key } = ending.letter
    const [row] = await store.parking.list({ kind: 'intent', handler, key }, { limit: 1 })
    const { kind } = ending.verdict
    if (row === undefined && isUnsure) {
      reportEnding(this.#engine, ending)
      return undefined
    }
    const isCertain = kind === 'done' || kind === 'failed' || kind === 'given-up'
    if (!isCertain || ending.isAnswer) return undefined
    if (row !== undefined && isSettled(row, ending)) {
      if (isUnsure) reportEnding(this.#engine, ending)
      return undefined
    }
    if (row !== undefined && attemptsOf(row) === ending.attempts)
      return { ending: { ...ending, revision: row.revision, isLate: true }, isUnsure, tries: tries + 1 }
    // One that did nothing contradicts nobody.
    if (kind === 'done' && ending.effect.remedy !== 'repeat')
      events.emit({ kind: 'intent-conflict', effect: effectOf(handler), key, attempt: ending.attempts })
    return undefined
  }
}

/** Whether the row says already what a late ending would make it say: a second message about it would be one too many. */
function isSettled(row: StoredParkedMessage, { attempts, verdict }: Ending): boolean {
  if (verdict.kind === 'done' || row.begun > 0 || row.attempts !== attempts) return false
  return row.reason === 'INTENT_GIVEN_UP' || (verdict.kind === 'failed' && row.reason === 'INTENT_FAILED')
}
