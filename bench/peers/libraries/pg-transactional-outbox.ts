import pg from 'pg'
import {
  DatabaseSetup,
  executeTransaction,
  getDisabledLogger,
  IsolationLevel,
  initializeMessageStorage,
  initializePollingMessageListener,
  type PollingListenerConfig,
} from 'pg-transactional-outbox'
import { applyTransfer } from '../../transfers/effect.ts'
import { type Ground, lockSeconds, type QueueContestant } from '../contestant.ts'
import { inChunks, type Job } from './in-chunks.ts'

const aggregateType = 'account'
const messageType = 'transfer'
const logger = getDisabledLogger()

export const contestants: readonly QueueContestant[] = [
  {
    kind: 'queue',
    name: 'pg-transactional-outbox',
    package: 'pg-transactional-outbox',
    setting:
      `the inbox with the polling listener; concurrency parallel, nextMessagesBatchSize as for all, polled every 250 ms, ` +
      `nextMessagesLockInMs ${lockSeconds * 1_000}, protections on as by default`,
    async install({ postgresUrl }) {
      const setup = {
        outboxOrInbox: 'inbox' as const,
        database: new URL(postgresUrl).pathname.slice(1),
        schema: 'public',
        table: 'inbox',
        listenerRole: 'postgres',
        nextMessagesName: 'next_inbox_messages',
      }
      const pool = new pg.Pool({ connectionString: postgresUrl, max: 1 })
      await pool.query(DatabaseSetup.dropAndCreateTable(setup))
      await pool.query(DatabaseSetup.createPollingFunction(setup))
      await pool.query(DatabaseSetup.setupPollingIndexes(setup))
      await pool.end()
    },
    async work(ground) {
      const [shutdown] = initializePollingMessageListener(
        configOf(ground),
        [
          {
            aggregateType,
            messageType,
            async handle({ id, payload }, client) {
              await applyTransfer(client as pg.ClientBase, id, payload as Job)
            },
          },
        ],
        logger,
      )
      return { stop: shutdown }
    },
    produce,
  },
]

function configOf({ postgresUrl, concurrency }: Ground): PollingListenerConfig {
  const database = { connectionString: postgresUrl, max: concurrency }
  return {
    outboxOrInbox: 'inbox',
    dbListenerConfig: database,
    dbHandlerConfig: database,
    settings: {
      dbSchema: 'public',
      dbTable: 'inbox',
      enableMaxAttemptsProtection: true,
      enablePoisonousMessageProtection: true,
      nextMessagesBatchSize: concurrency,
      nextMessagesFunctionName: 'next_inbox_messages',
      nextMessagesPollingIntervalInMs: 250,
      nextMessagesLockInMs: lockSeconds * 1_000,
    },
  }
}

async function count(pool: pg.Pool, condition: string): Promise<number> {
  const { rows } = await pool.query(`SELECT count(*)::int AS messages FROM inbox WHERE ${condition}`)
  return rows[0].messages
}

async function produce(ground: Ground) {
  const { postgresUrl, concurrency } = ground
  const pool = new pg.Pool({ connectionString: postgresUrl, max: concurrency })
  const store = initializeMessageStorage(configOf(ground), logger)
  const storeOne = async ({ id, ...payload }: Job) => {
    const message = { id, aggregateType, aggregateId: String(payload.account), messageType, payload }
    await executeTransaction(
      await pool.connect(),
      (client) => store({ ...message, concurrency: 'parallel' }, client),
      IsolationLevel.ReadCommitted,
    )
  }
  return {
    send: (messages: Parameters<typeof inChunks>[0]) =>
      inChunks(messages, (jobs) => Promise.all(jobs.map(storeOne)), concurrency),
    left: () => count(pool, 'processed_at IS NULL AND abandoned_at IS NULL'),
    givenUp: () => count(pool, 'abandoned_at IS NOT NULL'),
    close: () => pool.end(),
  }
}
