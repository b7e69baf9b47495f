import type { Verdict } from '../crash/verdict.ts'
import type { Remaining } from '../crash/world.ts'
import type { FaultKind } from './faults.ts'
import type { RecoveryTimes } from './recoveries.ts'

/** What has come of one run. */
export interface ChaosResult {
  readonly place: string
  readonly seconds: number
  readonly messages: number
  /** What was sent in all, repeats included. */
  readonly copies: number
  readonly deliveries: number
  readonly duplicates: number
  /** Attempts that failed and were to be repeated. */
  readonly parked: number
  readonly faults: Readonly<Record<FaultKind, number>>
  /** Messages that the ledger has rows for, each counted as often as it took effect as a whole. */
  readonly effects: number
  readonly verdict: Verdict
  /** What was never done, if something was not. */
  readonly stuck: Remaining | undefined
  /** Whatever else should not have happened: processes that ended by themselves, or did not end when asked to. */
  readonly problems: readonly string[]
  readonly recoveries: readonly RecoveryTimes[]
}

export function isUnharmed({ verdict, stuck, problems }: ChaosResult): boolean {
  const { lost, torn, doubled } = verdict
  return lost.length + torn.length + doubled.length === 0 && stuck === undefined && problems.length === 0
}
