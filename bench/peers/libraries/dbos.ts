import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'
import { PostgresDataSource } from '@dbos-inc/postgres-datasource'
import pg from 'pg'
import type { Ground, QueueContestant } from '../contestant.ts'
import { inChunks, type Job } from './in-chunks.ts'

const name = 'transfers'
const queueName = 'transfers'
const workflowName = 'applyTransfer'

export const contestants: readonly QueueContestant[] = [
  {
    kind: 'queue',
    name: 'DBOS',
    package: '@dbos-inc/dbos-sdk',
    setting:
      'workflow id = message id; a queue without limits, one transaction of the Postgres.js data source in each workflow; ' +
      'an executor id for each process, the same after a restart',
    async install(ground) {
      configure(ground, 'installer')
      await DBOS.launch()
      await DBOS.registerQueue(queueName)
      await DBOS.shutdown({ deregister: true })
    },
    async work(ground, index) {
      const { postgresUrl, concurrency } = ground
      const { hostname, port, username, pathname } = new URL(postgresUrl)
      const options = { host: hostname, port: Number(port), username, database: pathname.slice(1), max: concurrency }
      const dataSource = new PostgresDataSource('transfers', { ...options, onnotice: () => {} })
      DBOS.registerWorkflow((job: Job) => dataSource.runTransaction(() => applyTransfer(job), { name: 'apply' }), {
        name: workflowName,
      })
      configure(ground, `worker-${index}`)
      await DBOS.launch()
      return { stop: () => DBOS.shutdown({ deregister: true }) }
    },
    produce,
  },
]

function configure({ postgresUrl }: Ground, executorID: string): void {
  DBOS.setConfig({ name, systemDatabaseUrl: postgresUrl, logLevel: 'error', runAdminServer: false, executorID })
}

/** The same statements as everywhere, for a client of Postgres.js, which prepares them by itself. */
async function applyTransfer({ id, account, amount }: Job): Promise<void> {
  const sql = PostgresDataSource.client
  await sql`INSERT INTO ledger (transfer, account, amount) VALUES (${id}, ${account}, ${amount})`
  await sql`UPDATE balances SET balance = balance + ${amount} WHERE account = ${account}`
}

async function count(pool: pg.Pool, statuses: readonly string[]): Promise<number> {
  const { rows } = await pool.query(
    'SELECT count(*)::int AS workflows FROM dbos.workflow_status WHERE status = ANY ($1)',
    [statuses],
  )
  return rows[0].workflows
}

async function produce({ postgresUrl, concurrency }: Ground) {
  const client = await DBOSClient.create({ systemDatabaseUrl: postgresUrl })
  const pool = new pg.Pool({ connectionString: postgresUrl, max: 1 })
  const enqueue = (job: Job) => client.enqueue({ queueName, workflowName, workflowID: job.id }, job)
  return {
    send: (messages: Parameters<typeof inChunks>[0]) =>
      inChunks(messages, (jobs) => Promise.all(jobs.map(enqueue)), concurrency),
    left: () => count(pool, ['ENQUEUED', 'PENDING']),
    givenUp: () => count(pool, ['ERROR', 'MAX_RECOVERY_ATTEMPTS_EXCEEDED']),
    async close() {
      await client.destroy()
      await pool.end()
    },
  }
}
