import { usesSavepoint } from '../../sql/savepoints.ts'
import { sqlPieces } from '../../sql/sql-tokens.ts'
import { temporary } from './left-in-session.ts'
import { findSessionChange } from './session-change.ts'

/** Statements about what all of a transaction or a session shares: settings, constraints that wait, names of cursors. */
const aboutAll = new Set(['SET', 'RESET', 'DECLARE', 'PREPARE', 'DEALLOCATE', 'DO'])

/** Functions that return what the session did last, no matter in which handler. */
const ofTheSession = /\b(lastval|currval|setval)\s*\(/i
const isTemporary = new RegExp(temporary, 'i')
/**
 * While the server reads rows, it takes whatever is sent behind the statement for a part of them. While it sends rows, postgres.js
 * refuses other queries.
 */
const copies = /\bcopy\b[^;]*\b(?:from\s+stdin|to\s+stdout)\b/i
const mayBeAboutAll = /\b(?:set|reset|declare|prepare|deallocate|do)\b/i

/** What messages that interleave in one transaction would notice of each other. */
export function sharedIn(sql: string): string | undefined {
  if (usesSavepoint(sql)) return 'a savepoint'
  const verb = mayBeAboutAll.test(sql) ? verbsIn(sql).find((each) => aboutAll.has(each)) : undefined
  if (verb !== undefined) return verb
  if (findSessionChange(sql) !== undefined) return 'set_config()'
  if (isTemporary.test(sql)) return 'a temporary table'
  if (copies.test(sql)) return 'COPY'
  const named = ofTheSession.exec(sql)?.[1]
  return named && `${named}()`
}

function verbsIn(sql: string): string[] {
  const verbs: string[] = []
  let isFirst = true
  for (const [token, text] of sqlPieces(sql)) {
    if (isFirst) verbs.push(text.toUpperCase())
    isFirst = token === ';'
  }
  return verbs
}
