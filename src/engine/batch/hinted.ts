import type { ClaimRequest } from '../../contracts/index.ts'
import type { Engine } from '../engine.ts'
import type { Run, Work } from '../items.ts'
import { isRecorded } from './claim.ts'
import type { Committed } from './process-batch.ts'

/**
 * The runs that the hints report as processed. The hints are asked only while the store has recently confirmed the
 * epoch, so after a `forget` in another process an old answer does no harm for longer than that.
 */
export async function hintedRuns<Tx>(engine: Engine<Tx>, works: readonly Work<Tx>[]): Promise<ReadonlySet<Run<Tx>>> {
  const { hints } = engine
  const epoch = engine.recent.trustedEpoch()
  if (hints === undefined || epoch === undefined) return new Set()
  const runs = works
    .filter(({ origin }) => origin.letter === undefined)
    .flatMap((work) => work.runs)
    .filter((run) => isRecorded(run) && !engine.recent.knows(requestOf(run), run.fingerprint))
  if (runs.length === 0) return new Set()
  try {
    const answers = await hints.known(runs.map(requestOf), epoch)
    return new Set(runs.filter((_, place) => answers[place] === true))
  } catch {
    return new Set()
  }
}

/** Reports only what a commit that was seen to succeed has shown. */
export function tellHints<Tx>(engine: Engine<Tx>, { runs, outcomes, epoch }: Committed<Tx>): void {
  const { hints } = engine
  if (hints === undefined || epoch === undefined) return
  const processed = runs.filter((run) => {
    const outcome = outcomes[run.index]
    if (!isRecorded(run)) return false
    return outcome?.kind === 'processed' || (outcome?.kind === 'duplicate' && outcome.record.state === 'processed')
  })
  if (processed.length === 0) return
  try {
    hints.committed(processed.map(requestOf), epoch)
  } catch {
    // The messages are committed and acknowledged: hints that throw must not make it look otherwise.
  }
}

function requestOf<Tx>({ handler, key, fingerprint }: Run<Tx>): ClaimRequest {
  return { handler: handler.name, key, fingerprint }
}
