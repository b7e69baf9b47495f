import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker'
import pg from 'pg'
import { applyTransfer } from '../../transfers/effect.ts'
import type { Ground, QueueContestant } from '../contestant.ts'
import { inChunks, type Job } from './in-chunks.ts'

const task = 'transfer'

const logger = new Logger(() => (level, message) => {
  if (level === 'error') console.error(message)
})

export const contestants: readonly QueueContestant[] = [
  {
    kind: 'queue',
    name: 'graphile-worker',
    package: 'graphile-worker',
    setting:
      'jobKey = message id; as its page on performance says: localQueue of 500, completeJobBatchDelay 0, failJobBatchDelay 0; ' +
      'after a kill forceUnlockWorkers() for the dead',
    install: ({ postgresUrl }) => runMigrations({ connectionString: postgresUrl, logger }),
    async work({ postgresUrl, concurrency }) {
      const runner = await run({
        logger,
        noHandleSignals: true,
        preset: {
          worker: {
            connectionString: postgresUrl,
            concurrentJobs: concurrency,
            maxPoolSize: concurrency + 1,
            localQueue: { size: 500 },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
        taskList: {
          [task]: async (payload, { withPgClient }) => {
            const job = payload as Job
            await withPgClient(async (client) => {
              await client.query('BEGIN')
              await applyTransfer(client, job.id, job)
              await client.query('COMMIT')
            })
          },
        },
      })
      return { stop: () => runner.stop() }
    },
    produce,
  },
]

async function count(pool: pg.Pool, condition: string): Promise<number> {
  const { rows } = await pool.query(`SELECT count(*)::int AS jobs FROM graphile_worker.jobs WHERE ${condition}`)
  return rows[0].jobs
}

async function produce({ postgresUrl }: Ground) {
  const utils = await makeWorkerUtils({ connectionString: postgresUrl, logger })
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 1 })
  return {
    send: (messages: Parameters<typeof inChunks>[0]) =>
      inChunks(messages, (jobs) =>
        utils.addJobs(jobs.map((payload) => ({ identifier: task, payload, jobKey: payload.id }))),
      ),
    left: () => count(pool, 'attempts < max_attempts'),
    givenUp: () => count(pool, 'attempts >= max_attempts'),
    async afterKill() {
      const { rows } = await pool.query<{ locked_by: string }>(
        'SELECT DISTINCT locked_by FROM graphile_worker.jobs WHERE locked_by IS NOT NULL',
      )
      await utils.forceUnlockWorkers(rows.map(({ locked_by }) => locked_by))
    },
    async close() {
      await utils.release()
      await pool.end()
    },
  }
}
