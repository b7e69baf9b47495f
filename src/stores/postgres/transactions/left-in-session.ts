/** Tables, views, sequences and functions of the session. */
export const temporary = String.raw`\b(?:(?:create\s+(?:or\s+replace\s+)?(?:local\s+|global\s+)?|into\s+)temp(?:orary)?\b|pg_temp"?\s*\.)`
const staysTemporary = String.raw`${temporary}(?![^]*\bon\s+commit\s+drop\b)`
const left = new RegExp(
  String.raw`${staysTemporary}|\bpg_(?:try_)?advisory_lock(?:_shared)?\b|\bwith\s+hold\b|(?:^|;)\s*(?:listen|prepare)\s`,
  'i',
)

/**
 * Whether a statement may create something that no end of a transaction removes: temporary tables that stay, locks and
 * cursors of the session, prepared statements, LISTEN. A false positive only costs a new connection, so the statement need
 * not be parsed.
 */
export function leavesSomething(sql: string): boolean {
  return left.test(sql)
}
