import type { ParkedFilter } from '../../contracts/index.ts'
import { equalColumns, wantedInErrors } from '../sql/parked-filter.ts'
import { bytes, integer } from './cells.ts'
import { isRunning } from './parked-columns.ts'
import { isOneOf } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** A condition on the bare columns of the parked table. */
export function conditionOf(filter: ParkedFilter, tables: Tables): string {
  const { state, since, before, keys, redrive } = filter
  const conditions = ['TRUE']
  if (state !== undefined) conditions.push(state === 'dead' ? `state = 'dead'` : `state = 'waiting'`)
  for (const [column, wanted] of equalColumns(filter)) conditions.push(`\`${column}\` = ${bytes(wanted)}`)
  const written = wantedInErrors(filter)
  if (written) conditions.push(`LOCATE(${bytes(written)}, errors) > 0`)
  if (since !== undefined) conditions.push(`changed_at >= ${integer(since.getTime())}`)
  if (before !== undefined) conditions.push(`changed_at < ${integer(before.getTime())}`)
  if (keys !== undefined) conditions.push(isOneOf(keys))
  if (redrive !== undefined) conditions.push(`redrive = ${bytes(redrive)} AND ${isRunning(tables, bytes(redrive))}`)
  return conditions.join(' AND ')
}
