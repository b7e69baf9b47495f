import type { RecordKey } from '../contracts/index.ts'
import { nameOf } from './selection.ts'
import type { Site } from './site.ts'

const lookedAtOnce = 500

/**
 * Of the calls that processes have reported, those that have not ended since. A heartbeat is a few seconds old, and must not
 * contradict what a record or a row says.
 */
export async function stillRunning<Tx, Call extends RecordKey>(
  { store }: Pick<Site<Tx>, 'store'>,
  calls: readonly Call[],
): Promise<readonly Call[]> {
  const running: Call[] = []
  for (let start = 0; start < calls.length; start += lookedAtOnce) {
    const some = calls.slice(start, start + lookedAtOnce)
    const records = await store.inbox.find(some)
    const rows = await store.parking.list({ keys: some.map(({ handler, key }) => ({ handler, key })) })
    const begun = new Map(rows.map((row) => [nameOf(row), row.begun > 0]))
    for (const [place, call] of some.entries()) {
      const state = records[place]?.state
      const hasEnded = state !== undefined && state !== 'parked'
      if (!hasEnded && begun.get(nameOf(call)) !== false) running.push(call)
    }
  }
  return running
}
