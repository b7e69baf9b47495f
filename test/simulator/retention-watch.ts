import { isIntent } from '../../src/encoding/intent-name.ts'
import type { ServerTransaction } from './database/server-transaction.ts'
import type { Row, SimDatabase } from './database/sim-database.ts'
import type { Outside } from './outside.ts'
import { dayMs, hourMs } from './retained.ts'
import { bornOfIntent, IntentWatch } from './retained-intents.ts'
import { runOf } from './run-of.ts'
import type { Scenario } from './scenario.ts'
import { bornIn, worldBegins } from './timed-ids.ts'

/** Records of messages born so long before the horizon may be removed, and no others. */
const graceMs = hourMs

/** Sees every commit of a world in which records are removed, because in the end nobody can tell why one is not there. */
export class RetentionWatch {
  readonly found: string[] = []
  /** Runs of which a copy became a dead letter because nobody could know. */
  readonly tooOld = new Set<string>()
  /** Runs without a time whose records are gone, and that may therefore run again: somebody has accepted that. */
  readonly forgotten = new Set<string>()
  /** Runs that a person has redriven although nobody could know whether they had happened. */
  readonly redriven = new Set<string>()
  readonly intents: IntentWatch
  removed = 0
  readonly #database: SimDatabase
  readonly #keepMs: number
  readonly #skips: boolean
  readonly #isTimelessRemoved: boolean
  readonly #horizons: { readonly at: number; readonly time: number }[] = []
  /** Runs that were recorded, and when first. */
  readonly #recordedSince = new Map<string, number>()
  /** Runs that were recorded or parked: from then on they must not be lost. */
  readonly #known = new Set<string>()

  constructor(database: SimDatabase, outside: Outside, { retention, shape }: Scenario) {
    this.#database = database
    this.intents = new IntentWatch(database, outside, () => this.#horizon)
    this.#keepMs = Math.min(...(retention?.days ?? []).flatMap((days) => days ?? [])) * dayMs
    this.#skips = retention?.tooOld === 'skip'
    this.#isTimelessRemoved = retention?.timeless === true
    // What is known by its position has no record, and is never too old.
    const seesRecords = shape !== 'log by position'
    if (retention !== undefined)
      database.onCommit = (each) => {
        if (seesRecords) this.#see(each)
        else this.#seeRecordsOfIntents(each)
        this.intents.see(each)
      }
  }

  /** Nobody has to answer for it: it was never known, and then it was too late to get to know it. */
  mayBeSkipped(run: string, id: string): boolean {
    return this.#skips && this.#isBelow(id) && !this.#known.has(run)
  }

  /** It may have been recorded, although there is no record. */
  mayBeUnrecorded(run: string, id: string): boolean {
    return this.tooOld.has(run) || this.forgotten.has(run) || this.#isBelow(id, graceMs)
  }

  #see(transaction: ServerTransaction): void {
    for (const [name, row] of transaction.writes) {
      const [table, key] = name.split('\0') as [string, string]
      if (table === 'effects') this.#seeEffect(transaction, row)
      else if (table === 'inbox') this.#seeRecord(key, row, beforeItsRenaming(key))
      else if (table === 'parked') this.#seeParked(transaction, key, row)
      else if (name === 'meta\0horizon') this.#seeHorizon(row)
    }
  }

  #seeRecordsOfIntents({ writes }: ServerTransaction): void {
    for (const [name, row] of writes) {
      const [table, key] = name.split('\0') as [string, string]
      if (table === 'inbox' && isIntent(key)) this.#seeRecord(key, row, key)
      else if (name === 'meta\0horizon') this.#seeHorizon(row)
    }
  }

  #seeEffect(transaction: ServerTransaction, row: Row | undefined): void {
    // The message about a call has an id of its own, without a time; its effect bears the name of the message that intended the call.
    if (row?.handler === 'told') return
    const run = `${row?.handler}|${row?.message}`
    const letters = this.#database.scan(undefined, 'parked').filter(({ key }) => beforeItsRenaming(runOf(key)) === run)
    if (letters.some(({ row: { reason, redrive } }) => reason === 'TOO_OLD_TO_KNOW' && redrive !== undefined))
      this.redriven.add(run)
    const horizon = this.#horizons.findLast(({ at }) => at <= transaction.begunAt)?.time ?? Number.NEGATIVE_INFINITY
    const born = bornIn(`${row?.message}`)
    const isParked = [...transaction.writes.keys()].some(
      (name) => name.startsWith('parked\0') && beforeItsRenaming(runOf(name.slice(7))) === run,
    )
    if (born !== undefined && born < horizon && !isParked)
      this.found.push(`TOO OLD: ${run} ran ${horizon - born} ms below the horizon, and was not parked`)
  }

  #seeRecord(key: string, row: Row | undefined, run: string): void {
    if (row !== undefined) {
      this.#known.add(run)
      if (!this.#recordedSince.has(run)) this.#recordedSince.set(run, this.#database.scheduler.now)
      return
    }
    const before = this.#database.read(undefined, 'inbox', key)
    if (before === undefined) return
    this.removed++
    if (bornOf(run) === undefined && this.#mayForget(before)) this.forgotten.add(run)
    else if (!this.#isBelow(run, graceMs)) this.found.push(`UNRECORDED: the record of ${run} was removed too early`)
  }

  /** What waits for another attempt, or for a person, is never forgotten. */
  #mayForget({ state, processedAt }: Row): boolean {
    const ageMs = this.#database.rightDate().getTime() - (processedAt as Date).getTime()
    return this.#isTimelessRemoved && state !== 'parked' && ageMs > dayMs
  }

  #seeParked({ begunAt }: ServerTransaction, key: string, row: Row | undefined): void {
    if (row === undefined) return
    const run = beforeItsRenaming(runOf(key))
    this.#known.add(run)
    const before = this.#database.read(undefined, 'parked', key)
    if (row.reason !== 'TOO_OLD_TO_KNOW' || before?.reason === row.reason) return
    this.tooOld.add(run)
    if (!this.#isBelow(run)) this.found.push(`GIVEN UP: ${run} was parked as too old, and is not`)
    const isRecorded = this.#database.read(undefined, 'inbox', runOf(key)) !== undefined
    if (isRecorded && (this.#recordedSince.get(run) ?? begunAt) < begunAt)
      this.found.push(`GIVEN UP: ${run} was parked as too old, although its record was there`)
  }

  #seeHorizon(row: Row | undefined): void {
    const time = Number(row?.time) - worldBegins
    const latest = this.#database.rightDate().getTime() - worldBegins - this.#keepMs
    if (time < this.#horizon) this.found.push(`HORIZON: it fell by ${this.#horizon - time} ms`)
    if (time > latest) this.found.push(`HORIZON: it is ${time - latest} ms ahead`)
    if (time !== this.#horizon) this.#horizons.push({ at: this.#database.scheduler.now, time })
  }

  get #horizon(): number {
    return this.#horizons.at(-1)?.time ?? Number.NEGATIVE_INFINITY
  }

  #isBelow(idOrRun: string, byMs = 0): boolean {
    const born = bornOf(idOrRun)
    return born !== undefined && born < this.#horizon - byMs
  }
}

/** Effects keep the name that their handler had first. */
function beforeItsRenaming(run: string): string {
  return run.replace(/^uno\|/, 'one|')
}

function bornOf(idOrRun: string): number | undefined {
  return isIntent(idOrRun) ? bornOfIntent(idOrRun) : bornIn(idOrRun)
}
