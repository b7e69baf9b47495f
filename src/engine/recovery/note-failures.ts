import type { Committed } from '../batch/process-batch.ts'
import type { Engine } from '../engine.ts'

/** What a batch says about how many calls fail. What has failed without being run says nothing. */
export function noteFailures<Tx>({ isolation }: Engine<Tx>, { batch, runs, outcomes }: Committed<Tx>): void {
  // A call that fails without a part of its own undoes everything. One that has a part because it was likely to fail says
  // nothing about others.
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
