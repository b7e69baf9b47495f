import type { MysqlConnectionShape } from './client-shapes.ts'
import type { Claims } from './open-transaction.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByKey, inGroups } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/**
 * A procedure that commits makes the claims of its whole batch durable, and nothing in MySQL stops it: those messages would
 * be taken for duplicates for ever. So the very rows that these claims have made are removed. Rather an effect that
 * happens again than a message that is lost.
 */
export async function takeBackClaims<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  { inbox }: Tables,
  claims: readonly Claims[],
): Promise<void> {
  if (claims.length === 0) return
  await short.run(async (runner) => {
    for (const { token, keys } of claims)
      for (const group of inGroups(keys))
        await runner.run(`DELETE known FROM ${foundByKey(inbox, 'PRIMARY', group)} AND known.token = ${token}`)
  })
}
