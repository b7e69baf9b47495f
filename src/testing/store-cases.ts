import type { StoreCase } from './store-case.ts'
import { abortCases } from './store-cases/abort.ts'
import { basicCases } from './store-cases/basics.ts'
import { claimCases } from './store-cases/claim.ts'
import { keyCases } from './store-cases/keys.ts'
import { loanCases } from './store-cases/loan.ts'
import { loanControlCases } from './store-cases/loan-control.ts'
import { loanTroubleCases } from './store-cases/loan-trouble.ts'
import { lockCases } from './store-cases/locks.ts'
import { misuseCases } from './store-cases/misuse.ts'
import { outboxCases } from './store-cases/outbox.ts'
import { parkingCases } from './store-cases/parking.ts'
import { parkingTakeCases } from './store-cases/parking-take.ts'
import { partsCases } from './store-cases/parts.ts'
import { queueCases } from './store-cases/queue.ts'
import { queueVisibilityCases } from './store-cases/queue-visibility.ts'
import { recordCases } from './store-cases/record.ts'
import { schemaCases } from './store-cases/schema.ts'
import { timeCases } from './store-cases/time.ts'
import { transactionCases } from './store-cases/transaction.ts'
import { withinCases } from './store-cases/within.ts'

/** Every sentence of the store's contract that can be seen to fail, for any test runner. */
export const storeCases: readonly StoreCase[] = [
  ...basicCases,
  ...schemaCases,
  ...claimCases,
  ...keyCases,
  ...recordCases,
  ...lockCases,
  ...timeCases,
  ...transactionCases,
  ...misuseCases,
  ...abortCases,
  ...partsCases,
  ...loanCases,
  ...loanControlCases,
  ...loanTroubleCases,
  ...parkingCases,
  ...parkingTakeCases,
  ...outboxCases,
  ...queueCases,
  ...queueVisibilityCases,
  ...withinCases,
]
