import { sqlTokens } from './sql-tokens.ts'

const anyControlWord = /\b(?:begin|start|commit|end|rollback|abort|prepare)\b/i
const moreThanOneStatement = /;\s*[^\s;]/
const control =
  /^(?:BEGIN|END|ABORT|(?:START|PREPARE) TRANSACTION|(?:COMMIT|ROLLBACK) PREPARED|COMMIT|ROLLBACK(?! (?:WORK |TRANSACTION )?TO\b))(?= |$)/
const routine = /^CREATE (?:OR REPLACE )?(?:TEMP |TEMPORARY )?(?:CONSTRAINT )?(TRIGGER|FUNCTION|PROCEDURE)(?= |$)/

/** Long enough for every pattern above. */
const headLength = 6

/**
 * Returns the first keyword in one or more statements that would begin or end a transaction, in upper case, or `undefined`.
 * Savepoints are allowed. This check gives a handler a clear error at the offending call; whatever it misses (a stored
 * procedure, an unusual quote) is stopped by the seal.
 */
export function findTransactionControl(sql: string): string | undefined {
  if (!anyControlWord.test(sql)) return undefined
  const single = !moreThanOneStatement.test(sql)
  let head: string[] = []
  let previous = ''
  let inBody = false
  for (const token of sqlTokens(sql)) {
    if (token === ';') {
      const found = inBody ? undefined : controlOf(head)
      if (found !== undefined) return found
      head = []
    } else if (inBody && head.length === 0 && token === 'END') {
      inBody = false
      // Anything that follows, such as the routine's name, belongs to the CREATE.
      head = ['CREATE']
    } else if (!inBody && opensBody(head, previous, token)) {
      inBody = true
      head = []
    } else if (head.length < headLength) {
      head.push(token)
    } else if (single) break
    previous = token
  }
  return inBody ? undefined : controlOf(head)
}

function controlOf(head: readonly string[]): string | undefined {
  return control.exec(head.join(' '))?.[0]
}

/** Statements in a routine's body also end with `;`, and their `BEGIN` and `END` do not control the transaction. */
function opensBody(head: readonly string[], previous: string, token: string): boolean {
  if (token !== 'BEGIN' && token !== 'ATOMIC') return false
  const kind = routine.exec(head.join(' '))?.[1]
  if (kind === 'TRIGGER') return token === 'BEGIN'
  return kind !== undefined && token === 'ATOMIC' && previous === 'BEGIN'
}
