import { speedLines } from './failures/lines.ts'
import { interleaved, type Way } from './rounds.ts'
import { concurrency, type Ground, poolSize } from './stores/ground.ts'
import { openMariadb } from './stores/mariadb.ts'
import { measureBare, measureStore } from './stores/measure.ts'
import { openPostgres } from './stores/postgres.ts'
import { openRedis } from './stores/redis.ts'
import { openSqlite } from './stores/sqlite.ts'
import type { Goal, Suite } from './suite.ts'
import { makeWorkload } from './transfers/workload.ts'

/** Postgres has none here: it has a suite of its own. */
const goals: Readonly<Record<string, Goal>> = {
  mariadb: { atLeast: 2 },
  sqlite: { atLeast: 10 },
  'redis-isolated': { atLeast: 3 },
}

export const stores: Suite = {
  name: 'stores',
  about: 'transfers through each store, against a bare transaction per message on the same server and client',
  defaults: { rounds: 3, messages: 20_000 },
  quick: { rounds: 1, messages: 1_000 },

  async run({ rounds, messages }, say) {
    const grounds: Ground[] = []
    try {
      for (const open of [openPostgres, openMariadb, openSqlite, openRedis]) grounds.push(await open())
      for (const { about } of grounds) say(about)
      say(`${concurrency} in flight, pools of ${poolSize}`)
      say('warming up')
      for (const way of waysOn(grounds, Math.min(2_000, messages))) await way.measure()
      const ways = waysOn(grounds, messages)
      const rows = await interleaved(ways, rounds, say)
      return { rows, tables: [{ title: 'Deliveries per second', lines: speedLines(rows, ways) }] }
    } finally {
      for (const ground of grounds) await ground.close()
    }
  },
}

/** Each store right after what it is compared with. */
function waysOn(grounds: readonly Ground[], messages: number): Way[] {
  const workload = makeWorkload({ messages, seed: 1 })
  return grounds.flatMap((ground) => {
    const { name } = ground
    const bare = `${name}-bare`
    const goal = goals[name]
    return [
      { name: bare, against: bare, measure: () => measureBare(ground, workload) },
      { name, against: bare, ...(goal && { goal }), measure: () => measureStore(ground, workload) },
    ]
  })
}
