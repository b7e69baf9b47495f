import type { Pool } from 'pg'
import { accounts, type Workload } from './workload.ts'

/** What a way of working has to leave behind. */
export type Expected = 'each-message-once' | 'each-delivery-once'

/** What is in the ledger and in the balances, whichever kind of database they are in. */
export interface Seen {
  readonly entries: number
  /** Different ones among the entries. */
  readonly transfers: number
  /** The sum of all entries. */
  readonly amount: number
  /** The sum of all balances. */
  readonly balance: number
}

/** The ledger has no unique key on purpose: a doubled transfer must be able to happen to be seen. */
export async function createTables(pool: Pool): Promise<void> {
  await pool.query(`
    CREATE TABLE ledger (transfer text NOT NULL, account integer NOT NULL, amount integer NOT NULL);
    CREATE TABLE balances (account integer PRIMARY KEY, balance bigint NOT NULL);
    CREATE TABLE processed (message_id text PRIMARY KEY, result text)`)
}

/** Every measurement begins with the same tables, and with the same distance to the next checkpoint. */
export async function emptyTables(pool: Pool): Promise<void> {
  const { rows } = await pool.query(`SELECT to_regclass('justonce_inbox') IS NOT NULL AS installed`)
  await pool.query('TRUNCATE ledger, balances, processed')
  if (rows[0]?.installed) await pool.query('TRUNCATE justonce_inbox, justonce_queue')
  await pool.query('INSERT INTO balances SELECT account, 0 FROM generate_series(0, $1 - 1) AS account', [accounts])
  await pool.query('VACUUM (ANALYZE) balances')
  await pool.query('CHECKPOINT')
}

export async function isAsExpected(pool: Pool, workload: Workload, expected: Expected): Promise<boolean> {
  const { rows } = await pool.query<Record<'entries' | 'transfers' | 'amount' | 'balance', string>>(`
    SELECT count(*) AS entries, count(DISTINCT transfer) AS transfers, sum(amount) AS amount,
      (SELECT sum(balance) FROM balances) AS balance
    FROM ledger`)
  return isRight(seenIn(rows[0] ?? {}), workload, expected)
}

/** Drivers give sums as text, since they may be greater than a number can be. */
export function seenIn(row: Readonly<Record<string, unknown>>): Seen {
  const { entries, transfers, amount, balance } = row
  return {
    entries: Number(entries),
    transfers: Number(transfers),
    amount: Number(amount),
    balance: Number(balance),
  }
}

export function isRight(seen: Seen, workload: Workload, expected: Expected): boolean {
  const once = expected === 'each-message-once'
  const amount = once ? workload.amountOfMessages : workload.amountOfDeliveries
  return (
    seen.entries === (once ? workload.messages : workload.deliveries.length) &&
    seen.transfers === workload.messages &&
    seen.amount === amount &&
    seen.balance === amount
  )
}
