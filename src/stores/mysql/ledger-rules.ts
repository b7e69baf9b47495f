import type { LedgerRules } from '../sql/call-ledger.ts'
import { classify, endsTransaction } from './errors.ts'
import { serverFlags } from './runner.ts'
import { findTransactionControl } from './transaction-control.ts'

/** For one loan, since they remember what the server has said. */
export function ledgerRules(timeoutsEndTransactions: boolean): LedgerRules {
  let wasInTransaction = false
  return {
    classify,
    findTransactionControl,
    endedBy: (error) => endsTransaction(error, timeoutsEndTransactions),
    endedWith(result) {
      const status = statusOf(result)
      if (status === undefined) return false
      const isInTransaction = (status & serverFlags.inTransaction) !== 0
      const hasEnded = wasInTransaction && !isInTransaction
      wasInTransaction ||= isInTransaction
      return hasEnded
    },
  }
}

/** Of the header of a result, or of the last one where there are several. */
function statusOf(result: unknown): number | undefined {
  const [first] = Array.isArray(result) ? result : [result]
  const last: unknown = Array.isArray(first) ? first.at(-1) : first
  const status = (last as { serverStatus?: unknown } | null | undefined)?.serverStatus
  return typeof status === 'number' ? status : undefined
}
