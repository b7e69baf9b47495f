import type { MysqlConnectionShape } from './client-shapes.ts'
import type { Claims } from './provisional.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByKey, inGroups } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** By then the transaction has waited long enough, and so has the caller that retries it. */
const patience = { giveUpAfterMs: 5_000 }

/**
 * Anyone who commits without us makes the claims of the whole batch durable: those messages would count as duplicates
 * forever. So exactly the rows of these claims are removed, because a repeated effect is better than a lost message. If the
 * transaction is still open on a connection that was cut off, this waits for its end.
 */
export async function takeBackClaims<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  tables: Tables,
  claims: readonly Claims[],
): Promise<void> {
  if (claims.length > 0) await short.run((runner) => removeClaims(runner, tables, claims), patience)
}

export async function removeClaims(runner: Runner, { inbox }: Tables, claims: readonly Claims[]): Promise<void> {
  for (const { token, keys } of claims)
    for (const group of inGroups(keys))
      await runner.run(`DELETE known FROM ${foundByKey(inbox, 'PRIMARY', group)} AND known.token = ${token}`)
}
