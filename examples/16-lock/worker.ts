import { once } from 'node:events'
import { isJustonceError, withLease } from 'justonce'
import { openStore, writeReport } from './report.ts'

// A process that takes the lease and is frozen before it writes. When it wakes up, it does not know how long it has slept.
const store = openStore(process.argv[2] as string)
try {
  await withLease(store, 'nightly-report', { leaseMs: 300 }, async (_, fence) => {
    process.send?.('has the lease')
    await once(process, 'message')
    process.send?.(await writeReport(store, fence, 'of the process that was frozen'))
  })
} catch (error) {
  if (!isJustonceError(error, 'LEASE_LOST')) throw error
}
await store.close()
process.disconnect?.()
