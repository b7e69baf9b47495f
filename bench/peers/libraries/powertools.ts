import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { CachePersistenceLayer } from '@aws-lambda-powertools/idempotency/cache'
import { createClient } from '@redis/client'
import pg from 'pg'
import { maxInFlight } from '../../transfers/consumers.ts'
import { applyAlone } from '../../transfers/effect.ts'
import { startLoops } from '../../transfers/plain-consumers.ts'
import { type ConsumerContestant, lockSeconds } from '../contestant.ts'
import { type Job, jobOf } from './in-chunks.ts'

type Context = NonNullable<ConstructorParameters<typeof IdempotencyConfig>[0]['lambdaContext']>

export const contestants: readonly ConsumerContestant[] = [
  {
    kind: 'consumer',
    name: 'Powertools idempotency',
    package: '@aws-lambda-powertools/idempotency',
    setting:
      `makeIdempotent() with the cache persistence layer on Redis, eventKeyJmesPath id; a Lambda context with ${lockSeconds} s ` +
      'left is registered; what is refused is delivered again',
    async install() {
      // It warns on every start that this is no Lambda function, and takes no logger.
      process.env.POWERTOOLS_DEV = 'true'
    },
    async work({ postgresUrl, redisUrl, concurrency }, transport) {
      const pool = new pg.Pool({ connectionString: postgresUrl, max: concurrency })
      const client = await createClient({ url: redisUrl }).connect()
      const persistenceStore = new CachePersistenceLayer({ client })
      const lambdaContext = { getRemainingTimeInMillis: () => lockSeconds * 1_000 } as Context
      const config = new IdempotencyConfig({ eventKeyJmesPath: 'id', throwOnNoIdempotencyKey: true, lambdaContext })
      const apply = makeIdempotent(
        async (job: Job) => {
          await applyAlone(pool, job.id, job)
          return { applied: true }
        },
        { persistenceStore, config },
      )
      const loops = startLoops(transport, { concurrency, maxInFlight }, async (message) => {
        await apply(jobOf(message))
      })
      return {
        async stop() {
          await loops.stop()
          await client.close()
          await pool.end()
        },
      }
    },
  },
]
