import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'
import { applyAlone } from '../../transfers/effect.ts'
import { type Ground, lockSeconds, type QueueContestant } from '../contestant.ts'
import { inChunks, type Job } from './in-chunks.ts'

const queueName = 'transfers'

export const contestants: readonly QueueContestant[] = [
  {
    kind: 'queue',
    name: 'BullMQ',
    package: 'bullmq',
    setting: `jobId = message id; completed jobs are kept, as by default; lockDuration and stalledInterval ${lockSeconds} s, maxStalledCount 1 as by default`,
    async install() {},
    async work({ postgresUrl, redisUrl, concurrency }) {
      const pool = new pg.Pool({ connectionString: postgresUrl, max: concurrency })
      // Workers wait without a limit on retries, as the documentation asks.
      const connection = new Redis(redisUrl, { maxRetriesPerRequest: null })
      const worker = new Worker<Job>(queueName, ({ data }) => applyAlone(pool, data.id, data), {
        connection,
        concurrency,
        lockDuration: lockSeconds * 1_000,
        stalledInterval: lockSeconds * 1_000,
      })
      worker.on('error', ({ message }) => console.error(`BullMQ: ${message}`))
      await worker.waitUntilReady()
      return {
        async stop() {
          await worker.close()
          connection.disconnect()
          await pool.end()
        },
      }
    },
    produce,
  },
]

async function produce({ redisUrl }: Ground) {
  const connection = new Redis(redisUrl)
  const queue = new Queue<Job>(queueName, { connection })
  return {
    send: (messages: Parameters<typeof inChunks>[0]) =>
      inChunks(messages, (jobs) =>
        queue.addBulk(jobs.map((data) => ({ name: 'transfer', data, opts: { jobId: data.id } }))),
      ),
    left: () => queue.getJobCountByTypes('wait', 'active', 'delayed', 'prioritized'),
    givenUp: () => queue.getJobCountByTypes('failed'),
    async close() {
      await queue.close()
      connection.disconnect()
    },
  }
}
