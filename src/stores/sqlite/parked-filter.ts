import type { ParkedFilter } from '../../contracts/index.ts'
import type { SqliteValue } from './sqlite-database.ts'

/** A condition on rows of justonce_parked, and what its question marks stand for. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SqliteValue[]
}

const equal = {
  handler: 'handler',
  type: 'type',
  source: 'source',
  reason: 'reason',
  shape: 'shape',
  key: 'key',
  messageId: 'message_id',
  orderKey: 'order_key',
  redrive: 'redrive',
} as const

const amongKeys = `(handler, key) IN (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?))`

export function conditionOf(filter: ParkedFilter): Condition {
  const parts = ['true']
  const values: SqliteValue[] = []
  const add = (sql: string, value: SqliteValue | undefined): void => {
    if (value === undefined) return
    parts.push(sql)
    values.push(value)
  }
  // Spelled out rather than bound: only then can the indexes of one state be used.
  if (filter.state !== undefined) parts.push(filter.state === 'dead' ? `state = 'dead'` : `state = 'waiting'`)
  for (const [name, column] of Object.entries(equal)) add(`${column} = ?`, filter[name as keyof typeof equal])
  add('changed_at >= ?', filter.since?.getTime())
  add('changed_at < ?', filter.before?.getTime())
  add('instr(errors, ?) > 0', filter.errorText === undefined ? undefined : asInJson(filter.errorText))
  add(amongKeys, filter.keys && JSON.stringify(filter.keys.map(({ handler, key }) => [handler, key])))
  return { sql: parts.join(' AND '), values }
}

/** Error histories are JSON, which writes a quote in a message as \". */
function asInJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
