import type { Suspects } from '../../contracts/index.ts'
import { forgetSuspectsScript, suspectScript } from './scripts/small.ts'
import type { Transactions } from './transactions.ts'

/** Fewer than Lua hands to one command. */
const chunk = 1_000

export function redisSuspects<Tx extends object>({ connection, factory }: Transactions<Tx>): Suspects<Tx> {
  const count = async (by: 1 | -1, ids: readonly string[]): Promise<void> => {
    if (ids.length > 0) await connection.run(suspectScript, by, ...ids)
  }
  return {
    async look(ids) {
      const counts = await connection.callEach(['HMGET', `${connection.prefix}suspects`], ids)
      return counts.map((count) => Number(count ?? 0))
    },
    begin: (ids) => count(1, ids),
    async clear(tx, ids) {
      const { steps } = factory.transactionOf(tx)
      for (let from = 0; from < ids.length; from += chunk)
        steps.push({ kind: 'clear', ids: ids.slice(from, from + chunk) })
    },
    forgive: (ids) => count(-1, ids),
    async forget(olderThanMs) {
      await connection.run(forgetSuspectsScript, Math.ceil(olderThanMs))
    },
  }
}
