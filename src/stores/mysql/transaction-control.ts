import { byText } from '../sql/by-text.ts'
import { assignmentsIn, innerStatement } from './set-statement.ts'
import { type Reading, statementsIn, type Token, versionsIn } from './statement-tokens.ts'

/** Statements that begin or end a transaction, or commit it implicitly, whatever comes after the word. */
const always = new Set([
  ...['BEGIN', 'COMMIT', 'XA', 'ALTER', 'TRUNCATE', 'RENAME', 'GRANT', 'REVOKE', 'LOCK', 'UNLOCK', 'FLUSH', 'RESET'],
  ...['ANALYZE', 'OPTIMIZE', 'REPAIR', 'CHECK', 'CACHE', 'INSTALL', 'UNINSTALL', 'START', 'STOP', 'CHANGE', 'IMPORT'],
  ...['BACKUP', 'SHUTDOWN', 'RESTART', 'CLONE', 'PURGE', 'BINLOG'],
  // It may kill our own session.
  'KILL',
])

/** MariaDB runs these outside procedures, with anything in them. */
const compound = new Set(['IF', 'CASE', 'LOOP', 'WHILE', 'REPEAT', 'FOR', 'DECLARE'])

/** `SET` followed by one of these is not an assignment. */
const neverAfterSet = new Set(['PASSWORD', 'ROLE', 'DEFAULT', 'TRANSACTION', 'RESOURCE'])

const neverAssigned = new Set(['AUTOCOMMIT', 'COMPLETION_TYPE'])

/** A single statement that only reads or writes rows, as nearly all do. */
const harmless = /^\s*(?:select|insert|update|delete|replace|with)\s[^;]*;?\s*$/i

export const isHarmless = byText((sql) => harmless.test(sql) && !sql.includes('/*'))

export interface ControlOptions {
  /** Whether the session has NO_BACKSLASH_ESCAPES. */
  readonly backslashesAreLetters?: boolean
}

/** Each statement of a text, in every way a server may read it: which comments it runs depends on its version. */
export function allReadings(sql: string, { backslashesAreLetters = false }: ControlOptions = {}): Token[][] {
  if (isHarmless(sql)) return []
  const read = (runs: Reading['runs']) => statementsIn(sql, { backslashes: !backslashesAreLetters, runs })
  const versions = [...new Set(versionsIn(sql))]
  return [read(() => false), ...versions.map((most) => read((version) => version <= most))].flat()
}

/**
 * Returns the first words in one or more statements that would begin, end or implicitly commit a transaction, or
 * `undefined`. Savepoints and temporary tables are allowed.
 */
export function findTransactionControl(sql: string, options: ControlOptions = {}): string | undefined {
  for (const statement of allReadings(sql, options)) {
    const found = controlIn(statement, options)
    if (found !== undefined) return found
  }
  return undefined
}

function controlIn(given: readonly Token[], options: ControlOptions): string | undefined {
  const statement = withoutBrackets(given)
  const [first = '', second = '', third = '', fourth = ''] = statement.map(({ word }) => word)
  const words = `${first} ${second}`.trim()
  if (always.has(first)) return words
  // A label can only stand before a compound statement.
  if (statement[1]?.text === ':' && statement[2]?.text !== '=') return 'a compound statement'
  if (compound.has(first)) return `${first} as a compound statement`
  switch (first) {
    case 'ROLLBACK':
      return second === 'TO' || (second === 'WORK' && third === 'TO') ? undefined : first
    case 'CREATE':
    case 'DROP':
      return isTemporary(second, fourth) || (first === 'DROP' && second === 'PREPARE') ? undefined : words
    case 'LOAD':
      return second === 'INDEX' ? words : undefined
    case 'SET':
      return controlInSet(statement, options)
    case 'PREPARE':
    case 'EXECUTE':
      return controlInDynamic(statement, options)
    default:
      return undefined
  }
}

/** `CREATE TEMPORARY`, and `CREATE OR REPLACE TEMPORARY`. */
function isTemporary(second: string, fourth: string): boolean {
  return second === 'TEMPORARY' || (second === 'OR' && fourth === 'TEMPORARY')
}

function controlInSet(statement: readonly Token[], options: ControlOptions): string | undefined {
  const second = statement[1]?.word ?? ''
  if (second === 'STATEMENT') return controlIn(innerStatement(statement), options)
  const isAssigned = statement[2]?.text === '=' || statement[2]?.text === ':'
  if (neverAfterSet.has(second) && !(isAssigned && second !== 'PASSWORD')) return `SET ${second}`
  const found = assignmentsIn(statement).find(({ name }) => neverAssigned.has(name))
  return found && `SET ${found.name}`
}

/** The text of a dynamic statement is checked like any other; it is refused if it cannot be seen. */
function controlInDynamic(statement: readonly Token[], options: ControlOptions): string | undefined {
  const [first = '', second = ''] = statement.map(({ word }) => word)
  if (first === 'EXECUTE' && second !== 'IMMEDIATE') return undefined
  const from = first === 'EXECUTE' ? 2 : statement.findIndex(({ word }) => word === 'FROM') + 1
  const text = statement[from]
  const isWhole = from + 1 === statement.length || statement[from + 1]?.word === 'USING'
  if (from > 0 && isWhole && (text?.kind === 'literal' || text?.kind === 'either')) {
    return findTransactionControl(text.text, options)
  }
  return `${first === 'EXECUTE' ? 'EXECUTE IMMEDIATE' : first} of a text that cannot be seen`
}

/** `(SELECT …) UNION …` */
function withoutBrackets(statement: readonly Token[]): readonly Token[] {
  const from = statement.findIndex(({ text, kind }) => kind !== 'mark' || text !== '(')
  return from <= 0 ? statement : statement.slice(from)
}
