import type { ParkedFilter } from '../../contracts/index.ts'
import { bytes, integer } from './cells.ts'
import { isRunning } from './parked-columns.ts'
import { isOneOf } from './statement-parts.ts'
import type { Tables } from './tables.ts'

const columns = {
  handler: 'handler',
  type: 'type',
  source: 'source',
  reason: 'reason',
  shape: 'shape',
  key: '`key`',
  messageId: 'message_id',
  orderKey: 'order_key',
} as const satisfies Partial<Record<keyof ParkedFilter, string>>

/** A condition on the bare columns of the parked table. */
export function conditionOf(filter: ParkedFilter, tables: Tables): string {
  const { state, errorText, since, before, keys, redrive } = filter
  const conditions = ['TRUE']
  if (state !== undefined) conditions.push(state === 'dead' ? `state = 'dead'` : `state = 'waiting'`)
  for (const [name, column] of Object.entries(columns) as [keyof typeof columns, string][]) {
    const wanted = filter[name]
    if (wanted !== undefined) conditions.push(`${column} = ${bytes(wanted)}`)
  }
  // Error histories are JSON, which writes a quote in a message as \".
  const written = errorText && JSON.stringify(errorText).slice(1, -1)
  if (written) conditions.push(`LOCATE(${bytes(written)}, errors) > 0`)
  if (since !== undefined) conditions.push(`changed_at >= ${integer(since.getTime())}`)
  if (before !== undefined) conditions.push(`changed_at < ${integer(before.getTime())}`)
  if (keys !== undefined) conditions.push(isOneOf(keys))
  if (redrive !== undefined) conditions.push(`redrive = ${bytes(redrive)} AND ${isRunning(tables, bytes(redrive))}`)
  return conditions.join(' AND ')
}
