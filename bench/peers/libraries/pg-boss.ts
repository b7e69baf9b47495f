import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { applyAlone, applyTransfer } from '../../transfers/effect.ts'
import type { Ground, QueueContestant } from '../contestant.ts'
import { inChunks, type Job } from './in-chunks.ts'

const queue = 'transfers'

/** The least it accepts. Unlike `expireInSeconds`, it does not end a job that only takes long. */
const heartbeatSeconds = 10

const polling = { batchSize: 10, burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }

const setting =
  `job id = message id; batchSize ${polling.batchSize}, burstWhenBatchFull, pollingIntervalSeconds ` +
  `${polling.pollingIntervalSeconds}, localConcurrency as for all; heartbeatSeconds ${heartbeatSeconds}, supervised every second; ` +
  'expireInSeconds and retryLimit as by default'

const plain: QueueContestant = {
  kind: 'queue',
  name: 'pg-boss',
  package: 'pg-boss',
  setting: `work(), a transaction of its own for each job; ${setting}`,
  install,
  async work(ground) {
    const pool = new pg.Pool({ connectionString: ground.postgresUrl, max: ground.concurrency })
    const boss = await start(ground)
    await boss.work<Job>(queue, { ...polling, localConcurrency: ground.concurrency }, async (jobs) => {
      for (const { data } of jobs) await applyAlone(pool, data.id, data)
    })
    return {
      async stop() {
        await boss.stop()
        await pool.end()
      },
    }
  },
  produce,
}

const transactional: QueueContestant = {
  ...plain,
  name: 'pg-boss, transactional',
  setting: `work() with transactional: true, a transaction for each batch; ${setting}`,
  async work(ground) {
    const boss = await start(ground)
    const options = { ...polling, localConcurrency: ground.concurrency, transactional: true } as const
    await boss.work<Job, void, typeof options>(queue, options, async (jobs, tx) => {
      const client = { query: ({ text, values }: pg.QueryConfig) => tx.executeSql(text, values) }
      for (const { data } of jobs) await applyTransfer(client as unknown as pg.ClientBase, data.id, data)
    })
    return { stop: () => boss.stop() }
  },
}

export const contestants = [plain, transactional]

async function install(ground: Ground): Promise<void> {
  const boss = await start(ground)
  await boss.createQueue(queue, { heartbeatSeconds })
  await boss.stop()
}

/** A connection more for each worker than handlers use: pg-boss fetches and completes over the same pool. */
async function start({ postgresUrl, concurrency }: Ground): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: postgresUrl,
    max: 2 * concurrency,
    superviseIntervalSeconds: 1,
    monitorIntervalSeconds: 1,
  })
  boss.on('error', ({ message }) => console.error(`pg-boss: ${message}`))
  return await boss.start()
}

async function count(pool: pg.Pool, states: readonly string[]): Promise<number> {
  const { rows } = await pool.query(
    'SELECT count(*)::int AS jobs FROM pgboss.job WHERE name = $1 AND state::text = ANY ($2)',
    [queue, states],
  )
  return rows[0].jobs
}

async function produce(ground: Ground) {
  const boss = await start(ground)
  const pool = new pg.Pool({ connectionString: ground.postgresUrl, max: 1 })
  return {
    send: (messages: Parameters<typeof inChunks>[0]) =>
      inChunks(messages, (jobs) =>
        boss.insert(
          queue,
          jobs.map((data) => ({ id: data.id, data })),
        ),
      ),
    left: () => count(pool, ['created', 'retry', 'active']),
    givenUp: () => count(pool, ['failed']),
    async close() {
      await boss.stop()
      await pool.end()
    },
  }
}
