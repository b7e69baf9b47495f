import type { RecordKey } from '../../contracts/index.ts'
import { isJustonceError } from '../../errors/index.ts'
import type { Run } from '../items.ts'

/** Every record that a run is or was claimed under, and the row that owns it. */
export function recordsOf<Tx>({ handler, key, owner }: Run<Tx>): RecordKey[] {
  const records = [handler.name, ...handler.formerly].map((name) => ({ handler: name, key }))
  return owner === undefined ? records : [{ handler: owner.handler, key: owner.key }, ...records]
}

/**
 * The first run that the store has applied partly and cannot roll back. It must not run again. Everything else in the
 * transaction was committed and will show up as duplicates; further such runs show up when they are claimed.
 */
export function partlyAppliedRun<Tx>(runs: readonly Run<Tx>[], error: unknown): Run<Tx> | undefined {
  if (!isJustonceError(error, 'PARTLY_APPLIED')) return undefined
  const records = (error.details.records ?? []) as readonly RecordKey[]
  const isAmong = (record: RecordKey): boolean =>
    records.some(({ handler, key }) => handler === record.handler && key === record.key)
  return runs.find((run) => recordsOf(run).some(isAmong))
}
