import type { PackedMessage } from '../../src/contracts/index.ts'
import { effectOf, isIntent } from '../../src/encoding/intent-name.ts'
import { timeOfUuidV7 } from '../../src/ids/index.ts'
import type { ServerTransaction } from './database/server-transaction.ts'
import type { Row, SimDatabase } from './database/sim-database.ts'
import type { Outside } from './outside.ts'
import { worldBegins } from './timed-ids.ts'

/**
 * Sees every commit of a world in which calls are intended and records are removed. The record of a call carries the time of its
 * id, and goes after its day like any other: in the end, what is known of most calls is nothing.
 */
export class IntentWatch {
  readonly found: string[] = []
  readonly #done = new Map<string, number>()
  readonly #database: SimDatabase
  readonly #outside: Outside
  readonly #horizon: () => number

  constructor(database: SimDatabase, outside: Outside, horizon: () => number) {
    this.#database = database
    this.#outside = outside
    this.#horizon = horizon
  }

  /** How many calls of this effect for this message have ended as done. */
  done(effect: string, of: string): number {
    return this.#done.get(`${effect} ${of}`) ?? 0
  }

  see({ writes }: ServerTransaction): void {
    for (const [name, row] of writes) {
      const [table, run] = name.split('\0') as [string, string]
      if (table === 'parked' && row === undefined && isIntent(run)) this.#seeEnd(run, writes.get(`inbox\0${run}`))
    }
  }

  /**
   * A row goes only with a record that says how it has ended, or when that record would have been removed by now. One that waits for a
   * person goes when its attempt answers after all, over night perhaps, and that it happened.
   */
  #seeEnd(run: string, record: Row | undefined): void {
    const row = this.#database.read(undefined, 'parked', run)
    if (row === undefined) return
    const { of } = JSON.parse(Buffer.from((row.message as PackedMessage).body).toString()) as { readonly of: string }
    const [handler] = run.split('|') as [string]
    const what = `${effectOf(handler)} ${of}`
    const mayEnd = row.state !== 'dead' || this.#outside.done.some((call) => `${call.effect} ${call.of}` === what)
    const isTooOld = mayEnd && (bornOfIntent(run) ?? Number.POSITIVE_INFINITY) < this.#horizon()
    if (record?.state === 'processed' || (record === undefined && isTooOld))
      this.#done.set(what, (this.#done.get(what) ?? 0) + 1)
    else this.found.push(`DROPPED: the row of ${what} is gone, and its record is ${record?.state}`)
  }
}

/** In milliseconds from the beginning of the world; undefined with a key of the user's. */
export function bornOfIntent(run: string): number | undefined {
  const time = timeOfUuidV7(run.slice(run.indexOf('|') + 1))?.getTime()
  return time === undefined ? undefined : time - worldBegins
}
