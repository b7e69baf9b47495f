import type { Pool } from 'pg'
import type { Measured } from '../rounds.ts'
import type { Lines } from '../suite.ts'
import { countingPool } from '../transfers/count-trips.ts'
import { measureRedrive } from './redrive.ts'
import { failingAmong, measureTraffic, type TrafficSetup } from './traffic.ts'

/** What goes to the database for each message. On a short pass of its own: counting takes time. */
export async function countCosts(
  setup: Omit<TrafficSetup, 'pool'>,
  { url, poolSize, oneFailsIn }: { readonly url: string; readonly poolSize: number; readonly oneFailsIn: number },
): Promise<Lines> {
  const { workload } = setup
  const lines: string[][] = [['name', 'statements', 'round trips', 'undone batches']]
  const count = async (name: string, run: (pool: Pool) => Promise<Measured & { readonly undone?: number }>) => {
    const { pool, trips } = countingPool(url, poolSize)
    const { undone } = await run(pool)
    await pool.end()
    const each = (of: number) => (of / workload.messages).toFixed(2)
    lines.push([name, each(trips.statements), each(trips.roundTrips), undone === undefined ? '-' : String(undone)])
  }
  const failing = failingAmong(workload, oneFailsIn)
  await count('fresh', (pool) => measureTraffic({ ...setup, pool }))
  await count('failing', (pool) => measureTraffic({ ...setup, pool, failing }))
  await count('redrive', (pool) => measureRedrive({ ...setup, pool }))
  return lines
}
