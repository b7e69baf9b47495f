import type { InboxRecord, RecordKey, RecordState } from '../../../contracts/index.ts'
import { type Cell, dateIn, textArray, textIn } from '../values-as-text.ts'

export function keyArrays(keys: readonly RecordKey[]): [string, string] {
  return [textArray(keys.map(({ handler }) => handler)), textArray(keys.map(({ key }) => key))]
}

export const stateCodes = { processed: 'd', parked: 'p', expired: 'e', discarded: 'x' } as const

const stateOf = new Map<Cell | undefined, RecordState>(
  Object.entries(stateCodes).map(([state, code]) => [code, state as RecordState]),
)

/** The record that begins at the given column. */
export function recordIn(row: readonly Cell[], from = 0): InboxRecord {
  const fingerprint = row[from + 1]
  return {
    state: stateOf.get(row[from]) ?? 'processed',
    fingerprint: fingerprint === null ? undefined : Buffer.from(textIn(fingerprint), 'hex'),
    processedAt: dateIn(row[from + 2]),
    result: row[from + 3] ?? undefined,
  }
}

/** Unique for each pair, because a handler name contains no NUL: Postgres would have refused it. */
export function nameOf(handler: Cell | undefined, key: Cell | undefined): string {
  return `${handler}\0${key}`
}
