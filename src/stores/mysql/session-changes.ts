import { assignmentsIn, innerStatement } from './set-statement.ts'
import type { Token } from './statement-tokens.ts'
import { allReadings, type ControlOptions } from './transaction-control.ts'

/** What the statements of a text change in their session. */
export interface SessionChanges {
  /** System variables, in upper case. */
  readonly variables: readonly string[]
  /** Names of temporary tables that are created, as written, with the database if it is given. */
  readonly temporary: readonly (readonly string[])[]
  /** Whether the current database changes. */
  readonly movesElsewhere: boolean
  /** Whether it runs what its text does not show: a procedure, or a statement prepared earlier. It may even commit. */
  readonly isOpaque: boolean
  /** Whether there is now a savepoint that a procedure can roll back to as well. */
  readonly makesSavepoint: boolean
}

const nothing: SessionChanges = {
  variables: [],
  temporary: [],
  movesElsewhere: false,
  isOpaque: false,
  makesSavepoint: false,
}

export function findSessionChanges(sql: string, options: ControlOptions = {}): SessionChanges {
  const statements = allReadings(sql, options).map(carriedOut)
  if (statements.length === 0) return nothing
  const words = statements.map((statement) => statement[0]?.word)
  return {
    variables: statements.flatMap((statement, at) => (words[at] === 'SET' ? variablesIn(statement) : [])),
    temporary: statements.flatMap((statement, at) => (words[at] === 'CREATE' ? [tableIn(statement)] : [])),
    movesElsewhere: words.includes('USE'),
    isOpaque: words.includes('CALL') || words.includes('EXECUTE'),
    makesSavepoint: words.includes('SAVEPOINT'),
  }
}

/** The variables of `SET STATEMENT … FOR` last only for the statement behind it, which is what counts. */
function carriedOut(statement: readonly Token[]): readonly Token[] {
  const isWrapped = statement[0]?.word === 'SET' && statement[1]?.word === 'STATEMENT'
  return isWrapped ? carriedOut(innerStatement(statement)) : statement
}

function variablesIn(statement: readonly Token[]): string[] {
  return assignmentsIn(statement).flatMap(({ scope, name }) => (scope === 'session' ? [name] : []))
}

/** The name in `CREATE [OR REPLACE] TEMPORARY TABLE [IF NOT EXISTS] a.b`. */
function tableIn(statement: readonly Token[]): string[] {
  const at = statement.findIndex(({ word }) => word === 'TABLE' || word === 'SEQUENCE')
  const from = statement[at + 1]?.word === 'IF' ? at + 4 : at + 1
  const name = [statement[from]?.text ?? '']
  if (statement[from + 1]?.text === '.') name.push(statement[from + 2]?.text ?? '')
  return name
}
