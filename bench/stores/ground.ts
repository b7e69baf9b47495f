import type { Transport } from '../../src/index.ts'
import type { Seen } from '../transfers/tables.ts'
import type { Transfer } from '../transfers/workload.ts'
import type { RunningApp } from './app.ts'

/** A running database with a ledger and balances, and everything that differs between one kind of it and another. */
export interface Ground {
  /** How its store is called in the table. */
  readonly name: string
  /** What it is and how durable its commits are. */
  readonly about: string
  /** So many bare transactions are under way at once. */
  readonly bareConcurrency: number
  /** The effect of one message in a transaction of its own, with nothing against duplicates. */
  applyBare(id: string, transfer: Transfer): Promise<void>
  /** The app of justonce on a store that remembers nothing of what was measured before, except prepared tables. */
  startApp(transport: Transport): Promise<RunningApp>
  /** No entries, no records, all balances 0. */
  empty(): Promise<void>
  look(): Promise<Seen>
  close(): Promise<void>
}

/** Batches of justonce, and bare transactions where the database can do several. */
export const concurrency = 4

/** One connection more than are ever busy, for whatever looks after the tables meanwhile. */
export const poolSize = concurrency + 1

export const statements = {
  ledger: 'INSERT INTO ledger (transfer, account, amount) VALUES (?, ?, ?)',
  balance: 'UPDATE balances SET balance = balance + ? WHERE account = ?',
  look: `SELECT count(*) AS entries, count(DISTINCT transfer) AS transfers, sum(amount) AS amount,
    (SELECT sum(balance) FROM balances) AS balance FROM ledger`,
}
