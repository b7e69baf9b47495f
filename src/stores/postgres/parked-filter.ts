import type { ParkedFilter } from '../../contracts/index.ts'
import type { Cell } from './cells.ts'
import { isRunning } from './parked-columns.ts'
import { keyArrays } from './record-cells.ts'
import type { Tables } from './tables.ts'

export interface FilterSql {
  /** A condition on the bare columns of the parked table. */
  readonly where: string
  /** The values that came before, and those of the condition behind them. */
  readonly values: readonly Cell[]
}

const columns = {
  state: 'state',
  handler: 'handler',
  type: 'type',
  source: 'source',
  reason: 'reason',
  shape: 'shape',
  key: 'key',
  messageId: 'message_id',
  orderKey: 'order_key',
} as const satisfies Partial<Record<keyof ParkedFilter, string>>

/** Only what is given becomes part of the statement, so that the planner sees which index serves it. */
export function filterSql(filter: ParkedFilter, tables: Tables, before: readonly Cell[] = []): FilterSql {
  const values: Cell[] = [...before]
  const conditions: string[] = []
  const place = (value: Cell) => `$${values.push(value)}`

  for (const [name, column] of Object.entries(columns) as [keyof typeof columns, string][]) {
    const wanted = filter[name]
    if (wanted !== undefined) conditions.push(`${column} = ${place(wanted)}::text`)
  }
  const { errorText, since, before: until, keys, redrive } = filter
  // Error histories are JSON, which writes a quote in a message as \".
  const written = errorText && JSON.stringify(errorText).slice(1, -1)
  if (written !== undefined) conditions.push(`strpos(errors, ${place(written)}::text) > 0`)
  if (since !== undefined) conditions.push(`changed_at >= ${moment(place, since)}`)
  if (until !== undefined) conditions.push(`changed_at < ${moment(place, until)}`)
  if (keys !== undefined) {
    const [handlers, texts] = keyArrays(keys)
    conditions.push(`(handler, key) IN (SELECT * FROM unnest(${place(handlers)}::text[], ${place(texts)}::text[]))`)
  }
  if (redrive !== undefined) conditions.push(`redrive = ${place(redrive)}::text AND ${isRunning(tables, 'redrive')}`)
  return { where: conditions.length === 0 ? 'true' : conditions.join(' AND '), values }
}

function moment(place: (value: Cell) => string, date: Date): string {
  return `to_timestamp(${place(String(date.getTime()))}::float8 / 1000)`
}
