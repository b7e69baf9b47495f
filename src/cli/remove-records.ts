import { setTimeout as sleep } from 'node:timers/promises'
import type { Retention } from '../contracts/index.ts'
import { counted } from './output/wording.ts'
import type { Output } from './terminal.ts'
import { whileWorking } from './working-line.ts'

/** The same as in a running app: nothing is removed that a transaction might still be claiming. */
const graceMs = 3_600_000
const stepMs = 200
const pauseMs = 100

/** Removes the records from before the horizon in small steps, and says how far it is; resolves to how many. */
export async function removeRecords(retention: Retention, horizon: Date, err: Output): Promise<number> {
  const bornBefore = new Date(horizon.getTime() - graceMs)
  return await whileWorking(err, 'Removing records', async (line) => {
    let removed = 0
    for (let more = true; more; ) {
      const step = await retention.remove({ bornBefore, timelessBefore: undefined, budgetMs: stepMs })
      removed += step.removed
      more = step.more
      line.show(`${counted(removed, 'record')} removed`)
      if (more) await sleep(pauseMs)
    }
    return removed
  })
}
