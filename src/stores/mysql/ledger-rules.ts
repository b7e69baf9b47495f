import type { LedgerRules } from '../sql/call-ledger.ts'
import { changedSinceSnapshot, classify, endsTransaction, errorNumber } from './errors.ts'
import { serverFlags } from './runner.ts'
import { findSessionChanges } from './session-changes.ts'
import { type ControlOptions, findTransactionControl } from './transaction-control.ts'

/** What is known about the session of a loan. */
export interface LoanRules {
  /** Whether a lock timeout rolls back the whole transaction. */
  readonly timeoutsEndTransactions: boolean
  /** The prefix of our table names. */
  readonly prefix: string
  /** Whether there is no database to return to after a USE. */
  readonly isNowhere: boolean
  /** Updated here when the server reports a change. */
  readonly reading: { backslashesAreLetters: boolean }
}

/** Created for each loan, because the rules remember what the server has reported. */
export function ledgerRules(rules: LoanRules): LedgerRules {
  let wasInTransaction = false
  return {
    classify,
    findTransactionControl: (sql) => findTransactionControl(sql, rules.reading) ?? findTrespass(sql, rules),
    endedBy: (error) => mayHaveEnded(error) || endsTransaction(error, rules.timeoutsEndTransactions),
    savepoints: { sameNameReplaces: true },
    endedWith(result) {
      const status = statusOf(result)
      if (status === undefined) return false
      rules.reading.backslashesAreLetters = (status & serverFlags.backslashesAreLetters) !== 0
      const isInTransaction = (status & serverFlags.inTransaction) !== 0
      const hasEnded = wasInTransaction && !isInTransaction
      wasInTransaction ||= isInTransaction
      return hasEnded
    },
  }
}

/** With innodb_snapshot_isolation the whole transaction is gone. Other engines report the same of a statement that may be repeated. */
function mayHaveEnded(error: unknown): boolean {
  return errorNumber(error) === changedSinceSnapshot
}

/** Finds what would affect our own statements, or could not be restored when the loan ends. */
function findTrespass(sql: string, { prefix, isNowhere, reading }: LoanRules): string | undefined {
  const { temporary, movesElsewhere } = findSessionChanges(sql, reading satisfies ControlOptions)
  if (movesElsewhere && isNowhere) return 'USE'
  const hiding = temporary.find((name) => name.at(-1)?.toLowerCase().startsWith(prefix.toLowerCase()))
  return hiding && `CREATE TEMPORARY TABLE ${hiding.join('.')} over a table of the store`
}

/** The status in the header of a result, or of the last one if there are several. */
function statusOf(result: unknown): number | undefined {
  const [first] = Array.isArray(result) ? result : [result]
  const last: unknown = Array.isArray(first) ? first.at(-1) : first
  const status = (last as { serverStatus?: unknown } | null | undefined)?.serverStatus
  return typeof status === 'number' ? status : undefined
}
