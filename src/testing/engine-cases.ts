import { afterCommitCases } from './engine-cases/after-commit.ts'
import { alertCases } from './engine-cases/alerts.ts'
import { breakerCases } from './engine-cases/breaker.ts'
import { causedCases } from './engine-cases/caused.ts'
import { companyCases } from './engine-cases/company.ts'
import { delayCases } from './engine-cases/delays.ts'
import { expiryCases } from './engine-cases/expiry.ts'
import { failureCases } from './engine-cases/failure.ts'
import { futureCases } from './engine-cases/future.ts'
import { goneCases } from './engine-cases/gone.ts'
import { handlerMisuseCases } from './engine-cases/handler-misuse.ts'
import { heartbeatCases } from './engine-cases/heartbeats.ts'
import { hostileCases } from './engine-cases/hostile.ts'
import { identityCases } from './engine-cases/identity.ts'
import { insideCases } from './engine-cases/inside.ts'
import { intentAnswerCases } from './engine-cases/intent-answers.ts'
import { intentCases } from './engine-cases/intents.ts'
import { interleaveCases } from './engine-cases/interleave.ts'
import { keyOrderCases } from './engine-cases/key-order.ts'
import { looksAwayCases } from './engine-cases/looks-away.ts'
import { onceCases } from './engine-cases/once.ts'
import { operationsCases } from './engine-cases/operations.ts'
import { redriveCases } from './engine-cases/redrive.ts'
import { refusedCases } from './engine-cases/refused.ts'
import { removedHandlerCases } from './engine-cases/removed-handlers.ts'
import { renameCases } from './engine-cases/renames.ts'
import { reservationCases } from './engine-cases/reservation.ts'
import { retentionCases } from './engine-cases/retention.ts'
import { retryCases } from './engine-cases/retry.ts'
import { scheduleCases } from './engine-cases/schedules.ts'
import { schemeCases } from './engine-cases/schemes.ts'
import { stepCases } from './engine-cases/steps.ts'
import { storyCases } from './engine-cases/stories.ts'
import type { StoreCase } from './store-case.ts'

/** The promise as a whole: the real engine on a store, for any test runner. */
export const engineCases: readonly StoreCase[] = [
  ...identityCases,
  ...renameCases,
  ...failureCases,
  ...companyCases,
  ...looksAwayCases,
  ...hostileCases,
  ...retryCases,
  ...operationsCases,
  ...causedCases,
  ...storyCases,
  ...heartbeatCases,
  ...redriveCases,
  ...stepCases,
  ...removedHandlerCases,
  ...keyOrderCases,
  ...expiryCases,
  ...breakerCases,
  ...retentionCases,
  ...futureCases,
  ...schemeCases,
  ...handlerMisuseCases,
  ...interleaveCases,
  ...afterCommitCases,
  ...insideCases,
  ...intentCases,
  ...intentAnswerCases,
  ...goneCases,
  ...onceCases,
  ...reservationCases,
  ...delayCases,
  ...refusedCases,
  ...scheduleCases,
  ...alertCases,
]
