import { byText } from '../../sql/by-text.ts'
import type { LedgerRules } from '../../sql/call-ledger.ts'
import { findTransactionControl } from '../../sql/transaction-control.ts'
import { classify, isBrokenSeal } from '../errors.ts'
import { leavesSomething } from './left-in-session.ts'
import { findSessionChange } from './session-change.ts'
import { sharedIn } from './shared-in.ts'

export const ledgerRules: LedgerRules = {
  classify,
  findTransactionControl: byText(findTransactionControl),
  endedBy: isBrokenSeal,
  savepoints: { sameNameReplaces: false },
  sessionChange: byText(findSessionChange),
  sharedIn: byText(sharedIn),
  leavesSomething: byText(leavesSomething),
}
