import { isJustonceError } from '../../errors/index.ts'
import type { Batch } from '../batch/process-batch.ts'
import { RolledBack } from '../batch/rolled-back.ts'
import { partlyAppliedRun } from '../calls/partly-applied.ts'
import type { Run } from '../items.ts'
import type { WhyRolledBack } from './why-rolled-back.ts'

export interface Blame<Tx> {
  readonly runs: readonly Run<Tx>[]
  /** They need not run again to show whether they fail alone. */
  readonly isFailed: boolean
}

/** The runs that made a batch fail, if each of them is known. */
export function blamedFor<Tx>(
  { works, refusals }: Batch<Tx>,
  why: WhyRolledBack,
  error: unknown,
): Blame<Tx> | undefined {
  const runs = works.flatMap((work) => work.runs)
  const partly = partlyAppliedRun(runs, error)
  if (partly !== undefined) return { runs: [partly], isFailed: true }
  if (why !== 'failure' && why !== 'culprit' && why !== 'connection-lost') return undefined
  const [only, another] = runs
  // If the run did not throw the error itself, a message that only has to be kept may be the cause.
  const isOnly = another === undefined && (refusals.length === 0 || error instanceof RolledBack)
  if (only !== undefined && isOnly) return { runs: [only], isFailed: why !== 'connection-lost' }
  if (!(error instanceof RolledBack)) return undefined
  const { runs: throwers, areEach } = error as RolledBack<Tx>
  if (throwers.length === 0 || (throwers.length > 1 && !areEach)) return undefined
  const isCertain = !error.wasMixed && (error.wasAlone || isItsOwn(error.cause))
  return { runs: throwers, isFailed: why !== 'connection-lost' && isCertain }
}

/** An error for which the handler itself is to blame, whatever ran alongside it. */
function isItsOwn(error: unknown): boolean {
  return isJustonceError(error, 'HANDLER_TIMEOUT') || isJustonceError(error, 'TX_ENDED')
}
