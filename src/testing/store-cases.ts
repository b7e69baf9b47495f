import type { StoreCase } from './store-case.ts'
import { abortCases } from './store-cases/abort.ts'
import { auditCases } from './store-cases/audit.ts'
import { basicCases } from './store-cases/basics.ts'
import { claimCases } from './store-cases/claim.ts'
import { clockCases } from './store-cases/clocks.ts'
import { factCases } from './store-cases/facts.ts'
import { forgetCases } from './store-cases/forget.ts'
import { horizonCases } from './store-cases/horizon.ts'
import { keyCases } from './store-cases/keys.ts'
import { lastWriteCases } from './store-cases/last-writes.ts'
import { leaseCases } from './store-cases/leases.ts'
import { letterGroupCases } from './store-cases/letter-groups.ts'
import { letterCases } from './store-cases/letters.ts'
import { limitCases } from './store-cases/limits.ts'
import { loanCases } from './store-cases/loan.ts'
import { loanControlCases } from './store-cases/loan-control.ts'
import { loanSavepointCases } from './store-cases/loan-savepoints.ts'
import { loanTroubleCases } from './store-cases/loan-trouble.ts'
import { lockCases } from './store-cases/locks.ts'
import { misuseCases } from './store-cases/misuse.ts'
import { parkingCases } from './store-cases/parking.ts'
import { parkingBegunCases } from './store-cases/parking-begun.ts'
import { parkingBlockedCases } from './store-cases/parking-blocked.ts'
import { parkingDelayedCases } from './store-cases/parking-delayed.ts'
import { parkingFilterCases } from './store-cases/parking-filter.ts'
import { parkingFollowCases } from './store-cases/parking-follow.ts'
import { parkingIntentCases } from './store-cases/parking-intents.ts'
import { parkingOrderCases } from './store-cases/parking-order.ts'
import { parkingReserveCases } from './store-cases/parking-reserve.ts'
import { parkingStepCases } from './store-cases/parking-steps.ts'
import { parkingTakeCases } from './store-cases/parking-take.ts'
import { partsCases } from './store-cases/parts.ts'
import { positionCases } from './store-cases/positions.ts'
import { processClockCases } from './store-cases/process-clocks.ts'
import { queueCases } from './store-cases/queue.ts'
import { queueAgeCases } from './store-cases/queue-age.ts'
import { queueListCases } from './store-cases/queue-list.ts'
import { queueNameCases } from './store-cases/queue-names.ts'
import { queueNewsCases } from './store-cases/queue-news.ts'
import { queueOrderCases } from './store-cases/queue-order.ts'
import { queueReleaseCases } from './store-cases/queue-release.ts'
import { queueVisibilityCases } from './store-cases/queue-visibility.ts'
import { recordCases } from './store-cases/record.ts'
import { redriveCases } from './store-cases/redrives.ts'
import { restoredCases } from './store-cases/restored.ts'
import { retentionCases } from './store-cases/retention.ts'
import { schemaCases } from './store-cases/schema.ts'
import { suspectCases } from './store-cases/suspects.ts'
import { timeCases } from './store-cases/time.ts'
import { transactionCases } from './store-cases/transaction.ts'
import { withinCases } from './store-cases/within.ts'

/** Every rule of the store contract whose violation can be observed, for any test runner. */
export const storeCases: readonly StoreCase[] = [
  ...basicCases,
  ...schemaCases,
  ...claimCases,
  ...keyCases,
  ...recordCases,
  ...forgetCases,
  ...restoredCases,
  ...lockCases,
  ...timeCases,
  ...clockCases,
  ...processClockCases,
  ...transactionCases,
  ...lastWriteCases,
  ...misuseCases,
  ...abortCases,
  ...partsCases,
  ...loanCases,
  ...loanControlCases,
  ...loanSavepointCases,
  ...loanTroubleCases,
  ...limitCases,
  ...parkingCases,
  ...parkingReserveCases,
  ...parkingBegunCases,
  ...parkingTakeCases,
  ...parkingStepCases,
  ...parkingOrderCases,
  ...parkingFollowCases,
  ...parkingBlockedCases,
  ...parkingFilterCases,
  ...parkingIntentCases,
  ...parkingDelayedCases,
  ...letterCases,
  ...letterGroupCases,
  ...redriveCases,
  ...auditCases,
  ...factCases,
  ...suspectCases,
  ...leaseCases,
  ...horizonCases,
  ...retentionCases,
  ...positionCases,
  ...queueCases,
  ...queueVisibilityCases,
  ...queueReleaseCases,
  ...queueOrderCases,
  ...queueNameCases,
  ...queueListCases,
  ...queueAgeCases,
  ...queueNewsCases,
  ...withinCases,
]
