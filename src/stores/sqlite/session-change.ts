import { sqlTokens } from '../sql/sql-tokens.ts'

const anySessionWord = /\b(?:attach|detach|pragma)\b/i

/** Pragmas whose argument only selects what to read, and those whose value is part of the file and of the transaction. */
const harmless = new Set([
  ...['TABLE_INFO', 'TABLE_XINFO', 'TABLE_LIST', 'INDEX_LIST', 'INDEX_INFO', 'INDEX_XINFO', 'FOREIGN_KEY_LIST'],
  ...['FOREIGN_KEY_CHECK', 'INTEGRITY_CHECK', 'QUICK_CHECK', 'INCREMENTAL_VACUUM', 'USER_VERSION', 'APPLICATION_ID'],
])

/** EXPLAIN does not prevent the effect of a pragma: SQLite executes many of them while it compiles. */
const explaining = new Set(['EXPLAIN', 'QUERY', 'PLAN'])
const schemas = new Set(['MAIN', 'TEMP'])

/**
 * Returns the first thing in one or more statements that would change the connection for its next user, as it should appear
 * in an error, or `undefined`.
 */
export function findSessionChange(sql: string): string | undefined {
  if (!anySessionWord.test(sql)) return undefined
  let statement: string[] = []
  for (const token of sqlTokens(sql)) {
    if (token === ';') {
      const found = changeOf(statement)
      if (found !== undefined) return found
      statement = []
    } else if (statement.length > 0 || !explaining.has(token)) statement.push(token)
  }
  return changeOf(statement)
}

function changeOf([verb, ...rest]: readonly string[]): string | undefined {
  if (verb === 'ATTACH' || verb === 'DETACH') return verb
  if (verb !== 'PRAGMA') return undefined
  const [name, ...value] = schemas.has(rest[0] ?? '') ? rest.slice(2) : rest
  if (name === undefined || value.length === 0 || harmless.has(name)) return undefined
  return /^\w+$/.test(name) ? `PRAGMA ${name.toLowerCase()}` : 'PRAGMA'
}
