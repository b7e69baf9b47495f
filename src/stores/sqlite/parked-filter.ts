import type { ParkedFilter } from '../../contracts/index.ts'
import { equalColumns, wantedInErrors } from '../sql/parked-filter.ts'
import type { SqliteValue } from './sqlite-database.ts'

/** A condition on rows of justonce_parked, and the values of its question marks. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SqliteValue[]
}

const amongKeys = `(handler, key) IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))`

export function conditionOf(filter: ParkedFilter): Condition {
  const parts = ['true']
  const values: SqliteValue[] = []
  const add = (sql: string, value: SqliteValue | undefined): void => {
    if (value === undefined) return
    parts.push(sql)
    values.push(value)
  }
  // Spelled out rather than bound, because only then can the partial indexes by state be used.
  if (filter.state !== undefined) parts.push(filter.state === 'dead' ? `state = 'dead'` : `state = 'waiting'`)
  for (const [column, wanted] of equalColumns(filter)) add(`${column} = ?`, wanted)
  add('redrive = ?', filter.redrive)
  add('released = ?', filter.released === undefined ? undefined : Number(filter.released))
  const others = filter.notInRedrives && JSON.stringify(filter.notInRedrives)
  add('(redrive IS NULL OR redrive NOT IN (SELECT value FROM json_each(?)))', others)
  add('changed_at >= ?', filter.since?.getTime())
  add('changed_at < ?', filter.before?.getTime())
  add('instr(errors, ?) > 0', wantedInErrors(filter))
  add(amongKeys, filter.keys && JSON.stringify(filter.keys.map(({ handler, key }) => [handler, key])))
  return { sql: parts.join(' AND '), values }
}
