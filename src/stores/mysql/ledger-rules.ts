import type { LedgerRules } from '../sql/call-ledger.ts'
import { classify, endsTransaction } from './errors.ts'
import { serverFlags } from './runner.ts'
import { findSessionChanges } from './session-changes.ts'
import { type ControlOptions, findTransactionControl } from './transaction-control.ts'

/** What is known of the session that a loan is on. */
export interface LoanRules {
  /** A lock timeout undoes the whole transaction here. */
  readonly timeoutsEndTransactions: boolean
  /** With which the names of our tables begin. */
  readonly prefix: string
  /** There is no database to go back to after a USE. */
  readonly isNowhere: boolean
  /** Changed here when the server says so. */
  readonly reading: { backslashesAreLetters: boolean }
}

/** For one loan, since they remember what the server has said. */
export function ledgerRules(rules: LoanRules): LedgerRules {
  let wasInTransaction = false
  return {
    classify,
    findTransactionControl: (sql) => findTransactionControl(sql, rules.reading) ?? findTrespass(sql, rules),
    endedBy: (error) => endsTransaction(error, rules.timeoutsEndTransactions),
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

/** What would reach our own statements, or could not be put right when the loan ends. */
function findTrespass(sql: string, { prefix, isNowhere, reading }: LoanRules): string | undefined {
  const { temporary, movesElsewhere } = findSessionChanges(sql, reading satisfies ControlOptions)
  if (movesElsewhere && isNowhere) return 'USE'
  const hiding = temporary.find((name) => name.at(-1)?.toLowerCase().startsWith(prefix.toLowerCase()))
  return hiding && `CREATE TEMPORARY TABLE ${hiding.join('.')} over a table of the store`
}

/** Of the header of a result, or of the last one where there are several. */
function statusOf(result: unknown): number | undefined {
  const [first] = Array.isArray(result) ? result : [result]
  const last: unknown = Array.isArray(first) ? first.at(-1) : first
  const status = (last as { serverStatus?: unknown } | null | undefined)?.serverStatus
  return typeof status === 'number' ? status : undefined
}
