import { usesSavepoint } from '../sql/savepoints.ts'
import { sqlPieces } from '../sql/sql-tokens.ts'
import { mayMakeTempObject } from './temp-objects.ts'

/** Functions that return what the connection did last, no matter in which handler. None of them has arguments; a table of that name has columns. */
const ofTheConnection = new Set(['last_insert_rowid', 'changes', 'total_changes'])
const mayUseOne = /last_insert_rowid|changes/i

/** What messages that interleave in one transaction would notice of each other. */
export function sharedIn(sql: string): string | undefined {
  if (usesSavepoint(sql)) return 'a savepoint'
  const mayBeTemporary = mayMakeTempObject(sql)
  if (!mayBeTemporary && !mayUseOne.test(sql)) return undefined
  const names = namesIn(sql)
  if (mayBeTemporary && names.some((_, at) => isTemporary(names, at))) return 'a temporary table'
  const called = names.find((name, at) => ofTheConnection.has(name) && names[at + 1] === '(' && names[at + 2] === ')')
  return called && `${called}()`
}

/** CREATE TEMP VIEW …, CREATE TABLE temp.notes … */
function isTemporary(names: readonly string[], at: number): boolean {
  const [name, next] = names.slice(at)
  if (name !== 'temp' && name !== 'temporary') return false
  return names[at - 1] === 'create' || next === '.'
}

/** In lower case and without quotes, which functions and schemas may have, too. */
function namesIn(sql: string): string[] {
  const names = [...sqlPieces(sql)].map(([, text]) => text.toLowerCase().replace(/^(["`])(.*)\1$/s, '$2'))
  return names.filter((name) => name !== '[' && name !== ']')
}
