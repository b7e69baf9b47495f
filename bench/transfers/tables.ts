import type { Pool } from 'pg'
import { accounts, type Workload } from './workload.ts'

/** What a way of working has to leave behind. */
export type Expected = 'each-message-once' | 'each-delivery-once'

/** The ledger has no unique key on purpose: a doubled transfer must be able to happen to be seen. */
export async function createTables(pool: Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE ledger (transfer text NOT NULL, account integer NOT NULL, amount integer NOT NULL);
    CREATE TABLE balances (account integer PRIMARY KEY, balance bigint NOT NULL);
    CREATE TABLE processed (message_id text PRIMARY KEY)`)
}

/** Every measurement begins with the same tables, and with the same distance to the next checkpoint. */
export async function emptyTables(pool: Pool): Promise<void> {
  const { rows } = await pool.query(`SELECT to_regclass('justonce_inbox') IS NOT NULL AS installed`)
  await pool.query('TRUNCATE ledger, balances, processed')
  if (rows[0]?.installed) await pool.query('TRUNCATE justonce_inbox')
  await pool.query('INSERT INTO balances SELECT account, 0 FROM generate_series(0, $1 - 1) AS account', [accounts])
  await pool.query('VACUUM (ANALYZE) balances')
  await pool.query('CHECKPOINT')
}

export async function isAsExpected(pool: Pool, workload: Workload, expected: Expected): Promise<boolean> {
  const { rows } = await pool.query<Record<'entries' | 'transfers' | 'amount' | 'balance', string>>(`
    SELECT count(*) AS entries, count(DISTINCT transfer) AS transfers, sum(amount) AS amount,
      (SELECT sum(balance) FROM balances) AS balance
    FROM ledger`)
  const seen = rows[0]
  const once = expected === 'each-message-once'
  const amount = once ? workload.amountOfMessages : workload.amountOfDeliveries
  return (
    Number(seen?.entries) === (once ? workload.messages : workload.deliveries.length) &&
    Number(seen?.transfers) === workload.messages &&
    Number(seen?.amount) === amount &&
    Number(seen?.balance) === amount
  )
}
