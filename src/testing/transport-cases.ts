import type { TransportCase } from './transport-case.ts'
import { contentCases } from './transport-cases/content.ts'
import { deliveringCases } from './transport-cases/delivering.ts'
import { endingCases } from './transport-cases/ending.ts'
import { insideCases } from './transport-cases/inside.ts'
import { orderingCases } from './transport-cases/ordering.ts'
import { positionCases } from './transport-cases/positions.ts'
import { settlingCases } from './transport-cases/settling.ts'
import { sharingCases } from './transport-cases/sharing.ts'
import { sharingKeysCases } from './transport-cases/sharing-keys.ts'

/** The rules that every transport must keep. A case whose needs a transport does not meet is skipped with a reason. */
export const transportCases: readonly TransportCase[] = [
  ...deliveringCases,
  ...contentCases,
  ...settlingCases,
  ...sharingCases,
  ...orderingCases,
  ...sharingKeysCases,
  ...positionCases,
  ...endingCases,
  ...insideCases,
]
