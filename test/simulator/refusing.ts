import type { PlannedFault } from './faults.ts'
import { Random } from './random.ts'
import type { Scenario } from './scenario.ts'

/** The same world with a server that refuses to open some transactions, on connections that live on. */
export function refusing(scenario: Scenario): Scenario {
  // Of its own: what is drawn here must not change what worlds are like without it.
  const random = new Random(scenario.seed * 40_503 + 7)
  const refused = Array.from(
    { length: random.between(1, 4) },
    (): PlannedFault => ({ nth: random.below(random.pick([1, 4, 20])), step: 'begin', fault: 'refused' }),
  )
  return { ...scenario, faults: [...scenario.faults, ...refused] }
}
