import type { Committed } from '../batch/process-batch.ts'
import type { Engine } from '../engine.ts'

/** Notes how many calls of a batch failed. A run that failed without being called does not count. */
export function noteFailures<Tx>({ isolation }: Engine<Tx>, { batch, runs, outcomes }: Committed<Tx>): void {
  // A call that fails without its own part rolls everything back. A call that has a part because it was likely to fail
  // says nothing about others.
  const canFail = batch.partSize !== Number.POSITIVE_INFINITY && batch.works.length > 1
  let calls = 0
  let failed = 0
  for (const run of runs) {
    const kind = run.failure === undefined ? outcomes[run.index]?.kind : undefined
    const isFailed = canFail && (kind === 'failed' || kind === 'apart')
    if (isFailed) failed++
    if (isFailed || kind === 'processed') calls++
  }
  isolation.saw(failed, calls)
}
