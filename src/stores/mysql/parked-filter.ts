import type { ParkedFilter } from '../../contracts/index.ts'
import { equalColumns, wantedInErrors } from '../sql/parked-filter.ts'
import { boolean, bytes, integer } from './literals-and-cells.ts'
import { isOneOf } from './statement-parts.ts'

/** A condition on the bare columns of the parked table. */
export function conditionOf(filter: ParkedFilter): string {
  const { state, since, before, keys, redrive, released, notInRedrives } = filter
  const conditions = ['TRUE']
  if (state !== undefined) conditions.push(state === 'dead' ? `state = 'dead'` : `state = 'waiting'`)
  for (const [column, wanted] of equalColumns(filter)) conditions.push(`\`${column}\` = ${bytes(wanted)}`)
  const written = wantedInErrors(filter)
  if (written) conditions.push(`LOCATE(${bytes(written)}, errors) > 0`)
  if (since !== undefined) conditions.push(`changed_at >= ${integer(since.getTime())}`)
  if (before !== undefined) conditions.push(`changed_at < ${integer(before.getTime())}`)
  if (keys !== undefined) conditions.push(isOneOf(keys))
  if (redrive !== undefined) conditions.push(`redrive = ${bytes(redrive)}`)
  if (released !== undefined) conditions.push(`released = ${boolean(released)}`)
  if (notInRedrives !== undefined && notInRedrives.length > 0)
    conditions.push(`(redrive IS NULL OR redrive NOT IN (${notInRedrives.map((id) => bytes(id)).join(', ')}))`)
  return conditions.join(' AND ')
}
