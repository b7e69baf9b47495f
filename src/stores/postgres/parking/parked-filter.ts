import type { ParkedFilter } from '../../../contracts/index.ts'
import { equalColumns, wantedInErrors } from '../../sql/parked-filter.ts'
import { keyArrays } from '../inbox/record-rows.ts'
import { type Cell, textArray } from '../values-as-text.ts'

export interface FilterSql {
  /** A condition on the bare columns of the parked table. */
  readonly where: string
  /** The given values, followed by those of the condition. */
  readonly values: readonly Cell[]
}

/** Only given conditions become part of the statement, so that the planner can choose the right index. */
export function filterSql(filter: ParkedFilter, before: readonly Cell[] = []): FilterSql {
  const values: Cell[] = [...before]
  const conditions: string[] = []
  const place = (value: Cell) => `$${values.push(value)}`

  const { state, since, before: until, keys, redrive, released, notInRedrives } = filter
  if (state !== undefined) conditions.push(`state = ${place(state)}::text`)
  for (const [column, wanted] of equalColumns(filter)) conditions.push(`${column} = ${place(wanted)}::text`)
  const written = wantedInErrors(filter)
  if (written !== undefined) conditions.push(`strpos(errors, ${place(written)}::text) > 0`)
  if (since !== undefined) conditions.push(`changed_at >= ${moment(place, since)}`)
  if (until !== undefined) conditions.push(`changed_at < ${moment(place, until)}`)
  if (keys !== undefined) {
    const [handlers, texts] = keyArrays(keys)
    conditions.push(`(handler, key) IN (SELECT * FROM unnest(${place(handlers)}::text[], ${place(texts)}::text[]))`)
  }
  if (redrive !== undefined) conditions.push(`redrive = ${place(redrive)}::text`)
  if (released !== undefined) conditions.push(released ? 'released' : 'NOT released')
  if (notInRedrives !== undefined)
    conditions.push(`(redrive IS NULL OR redrive <> ALL (${place(textArray(notInRedrives))}::text[]))`)
  return { where: conditions.length === 0 ? 'true' : conditions.join(' AND '), values }
}

function moment(place: (value: Cell) => string, date: Date): string {
  return `to_timestamp(${place(String(date.getTime()))}::float8 / 1000)`
}
