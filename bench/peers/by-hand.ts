import pg from 'pg'
import { createClient } from 'redis'
import { type ConsumerName, maxInFlight, startConsumer } from '../transfers/consumers.ts'
import { applyAlone } from '../transfers/effect.ts'
import { decode, startLoops } from '../transfers/plain-consumers.ts'
import type { ConsumerContestant } from './contestant.ts'

/** One of the consumers that the other benchmarks measure as well. */
export function consumer(name: ConsumerName, label: string, setting: string): ConsumerContestant {
  return {
    kind: 'consumer',
    name: label,
    setting,
    async install() {},
    async work({ postgresUrl, concurrency }, transport) {
      // One more than are busy, for whatever looks after the tables meanwhile.
      const pool = new pg.Pool({ connectionString: postgresUrl, max: concurrency + 1 })
      const isApp = name === 'handlers' || name === 'interleaved' || name === 'batch'
      const { stop } = await startConsumer(name, transport, { pool, ...(!isApp && { concurrency }) })
      return {
        async stop() {
          await stop()
          await pool.end()
        },
      }
    },
  }
}

const rememberedSeconds = 3_600

/** As it is found in many articles: the key in Redis first, and if it is new the transaction. */
export const redisFirst: ConsumerContestant = {
  kind: 'consumer',
  name: 'Redis SET NX by hand',
  setting: `SET id 1 NX EX ${rememberedSeconds} before the transaction; deleted if it fails`,
  async install() {},
  async work({ postgresUrl, redisUrl, concurrency }, transport) {
    const pool = new pg.Pool({ connectionString: postgresUrl, max: concurrency })
    const redis = await createClient({ url: redisUrl }).connect()
    const loops = startLoops(transport, { concurrency, maxInFlight }, async (message) => {
      const id = message.id as string
      if ((await redis.set(id, '1', { NX: true, EX: rememberedSeconds })) === null) return
      try {
        await applyAlone(pool, id, decode(message))
      } catch (error) {
        await redis.del(id)
        throw error
      }
    })
    return {
      async stop() {
        await loops.stop()
        await redis.close()
        await pool.end()
      },
    }
  },
}
