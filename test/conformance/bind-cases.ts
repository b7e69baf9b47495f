import { describe, test } from 'vitest'
import type { CaseOutcome } from '../../src/testing/index.ts'

/** A case that a driver cannot pass, and why; the reason is printed. */
export interface Skip {
  readonly case: string
  readonly reason: string
}

interface BoundCases<Case> {
  readonly cases: readonly Case[]
  readonly skip: readonly Skip[]
  run(each: Case): Promise<CaseOutcome>
}

/** Makes a vitest test of every case. What the driver lacks is skipped with a reason. */
export function bindCases<Case extends { readonly name: string }>(driver: string, bound: BoundCases<Case>): void {
  const reasons = new Map(bound.skip.map((each) => [each.case, each.reason]))
  describe(driver, () => {
    test('every skip names a case and a reason', () => refuseIdleSkips(bound.cases, bound.skip))
    for (const each of bound.cases) {
      test(each.name, async ({ skip, task }) => {
        const record = (outcome: string) => Object.assign(task.meta, { conformance: { driver, outcome } })
        const skipped = (reason: string) => {
          record(`skipped: ${reason}`)
          skip(reason)
        }
        const reason = reasons.get(each.name)
        if (reason !== undefined) return skipped(reason)
        record('failed')
        const outcome = await bound.run(each)
        if (outcome.kind === 'skipped') return skipped(outcome.reason)
        record('passed')
      })
    }
  })
}

/** A skip whose case was renamed or removed would silently skip nothing, or stay for ever. */
export function refuseIdleSkips(cases: readonly { readonly name: string }[], skip: readonly Skip[]): void {
  for (const each of skip) {
    if (!cases.some(({ name }) => name === each.case)) throw new Error(`There is no case called '${each.case}'.`)
    if (each.reason.trim() === '') throw new Error(`The skip of '${each.case}' gives no reason.`)
  }
}
