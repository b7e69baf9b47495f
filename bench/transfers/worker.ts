import { once } from 'node:events'
import pg from 'pg'
import { startConsumer } from './consumers.ts'
import { prefetched } from './prefetched.ts'
import type { WorkerNews, WorkerOrder } from './processes.ts'
import { makeWorkload } from './workload.ts'

/** One of several consumer processes; see processes.ts. */
const [order] = (await once(process, 'message')) as [WorkerOrder]
const { url, consumer, concurrency, workload, index, processes } = order
const pool = new pg.Pool({ connectionString: url, max: concurrency + 1 })
const source = prefetched()
const running = await startConsumer(consumer, source, { pool, concurrency })

// Compiled code and open connections before the clock starts; these messages are gone from the tables by then.
const warmUp = { messages: Math.min(2_000, workload.messages), seed: 1_000 + index }
await source.deliverAll(makeWorkload(warmUp).deliveries)
const own = makeWorkload(workload).deliveries.filter((_, i) => i % processes === index)
const conflictsBefore = running.conflicts()
tell({ kind: 'ready' })

await once(process, 'message')
await source.deliverAll(own)
tell({ kind: 'done', conflicts: running.conflicts() - conflictsBefore })

function tell(news: WorkerNews): void {
  process.send?.(news)
}
