import type { InboxRecord, RecordKey } from '../../../contracts/index.ts'
import { statesByLetter } from '../../shared/state-letters.ts'
import { type Cell, dateIn, textArray, textIn } from '../values-as-text.ts'

export function keyArrays(keys: readonly RecordKey[]): [string, string] {
  return [textArray(keys.map(({ handler }) => handler)), textArray(keys.map(({ key }) => key))]
}

export const isSame = 'known.handler = given.handler AND known.key = given.key'

/** The first and last time, which are the values from `at` on, let the planner skip the partitions outside. */
export function isSameBorn(at: number): string {
  return `${isSame} AND known.born = given.born
    AND known.born >= $${at}::timestamptz AND known.born <= $${at + 1}::timestamptz`
}

/** The record that begins at the given column. */
export function recordIn(row: readonly Cell[], from = 0): InboxRecord {
  const fingerprint = row[from + 1]
  return {
    state: statesByLetter.get(textIn(row[from])) ?? 'processed',
    fingerprint: fingerprint === null ? undefined : Buffer.from(textIn(fingerprint), 'hex'),
    processedAt: dateIn(row[from + 2]),
    result: row[from + 3] ?? undefined,
  }
}

/** Unique for each pair, because a handler name contains no NUL: Postgres would have refused it. */
export function nameOf(handler: Cell | undefined, key: Cell | undefined): string {
  return `${handler}\0${key}`
}
