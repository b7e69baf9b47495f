const temporary = String.raw`\b(?:create\s+(?:local\s+|global\s+)?|into\s+)temp(?:orary)?\b(?![^]*\bon\s+commit\s+drop\b)`
const left = new RegExp(
  String.raw`${temporary}|\bpg_(?:try_)?advisory_lock(?:_shared)?\b|\bwith\s+hold\b|(?:^|;)\s*(?:listen|prepare)\s`,
  'i',
)

/**
 * Temporary tables that stay, locks and cursors of the session, prepared statements, LISTEN: no end of a transaction removes
 * them. Guessing yes costs a new connection, so that it need not understand the statement.
 */
export function leavesSomething(sql: string): boolean {
  return left.test(sql)
}
