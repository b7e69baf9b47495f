import type { MysqlConnectionShape } from './client-shapes.ts'
import type { Claims } from './provisional.ts'
import type { Runner } from './runner.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByKey, inGroups } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** The transaction has been waiting for long enough by then, and so has whoever runs it again. */
const patience = { giveUpAfterMs: 5_000 }

/**
 * Whatever commits without us makes the claims of its whole batch durable: those messages would be taken for duplicates
 * for ever. So the very rows that these claims have made are removed. Rather an effect that happens again than a message
 * that is lost. Where the transaction is still open on a connection that was cut off, this waits for its end.
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
