import type { ClientBase, Pool } from 'pg'
import type { Transfer } from './workload.ts'

type Queryable = Pick<ClientBase, 'query'>

/** The effect of one message, the same code for every caller: one ledger entry, one balance. */
export async function applyTransfer(tx: Queryable, id: string, { account, amount }: Transfer): Promise<void> {
  await tx.query({
    name: 'bench-ledger',
    text: 'INSERT INTO ledger (transfer, account, amount) VALUES ($1, $2, $3)',
    values: [id, account, amount],
  })
  await tx.query({
    name: 'bench-balance',
    text: 'UPDATE balances SET balance = balance + $2 WHERE account = $1',
    values: [account, amount],
  })
}

/** As it is done without justonce: one transaction for the message, and nothing that would recognise a copy. */
export async function applyAlone(pool: Pool, id: string, transfer: Transfer): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await applyTransfer(client, id, transfer)
    await client.query('COMMIT')
  } finally {
    client.release()
  }
}

/** The same effect for many messages in two statements. */
export async function applyTransfers(
  tx: Queryable,
  transfers: readonly { readonly id: string; readonly body: Transfer }[],
): Promise<void> {
  const ids = transfers.map(({ id }) => id)
  const accounts = transfers.map(({ body }) => body.account)
  const amounts = transfers.map(({ body }) => body.amount)
  await tx.query({
    name: 'bench-ledger-many',
    text: 'INSERT INTO ledger (transfer, account, amount) SELECT * FROM unnest($1::text[], $2::int[], $3::int[])',
    values: [ids, accounts, amounts],
  })
  await tx.query({
    name: 'bench-balance-many',
    text: `
      UPDATE balances SET balance = balance + sums.amount
      FROM (SELECT account, sum(amount) AS amount FROM unnest($1::int[], $2::int[]) AS t (account, amount)
            GROUP BY account ORDER BY account) AS sums
      WHERE balances.account = sums.account`,
    values: [accounts, amounts],
  })
}
