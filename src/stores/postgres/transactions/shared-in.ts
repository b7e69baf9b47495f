import { usesSavepoint } from '../../sql/savepoints.ts'
import { findSessionChange } from './session-change.ts'

/** Functions that return what the session did last, whoever did it. */
const ofTheSession = /\b(lastval|currval|setval)\s*\(/i
const temporary = /\b(?:create\s+(?:local\s+|global\s+)?|into\s+)temp(?:orary)?\b/i

/** What messages that interleave in one transaction would notice of each other. */
export function sharedIn(sql: string): string | undefined {
  if (usesSavepoint(sql)) return 'a savepoint'
  if (findSessionChange(sql) !== undefined) return 'SET or set_config()'
  if (temporary.test(sql)) return 'a temporary table'
  const named = ofTheSession.exec(sql)?.[1]
  return named && `${named}()`
}
