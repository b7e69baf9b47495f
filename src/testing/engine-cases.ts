import { afterCommitCases } from './engine-cases/after-commit.ts'
import { failureCases } from './engine-cases/failure.ts'
import { handlerMisuseCases } from './engine-cases/handler-misuse.ts'
import { identityCases } from './engine-cases/identity.ts'
import { insideCases } from './engine-cases/inside.ts'
import { onceCases } from './engine-cases/once.ts'
import { retryCases } from './engine-cases/retry.ts'
import { stepCases } from './engine-cases/steps.ts'
import type { StoreCase } from './store-case.ts'

/** The promise as a whole: the real engine on a store, for any test runner. */
export const engineCases: readonly StoreCase[] = [
  ...identityCases,
  ...failureCases,
  ...retryCases,
  ...stepCases,
  ...handlerMisuseCases,
  ...afterCommitCases,
  ...insideCases,
  ...onceCases,
]
