import type { DatabaseSync } from 'node:sqlite'
import type { App, HandlerContext, Message } from '../../../src/index.ts'
import type { SqliteStore } from '../../../src/stores/sqlite/index.ts'
import type { FailureName, ProveOptions } from '../../../src/testing/index.ts'

export interface Payment {
  readonly account: string
  readonly amount: number
}

export type SqliteContext = HandlerContext<SqliteStore<DatabaseSync>, Record<string, unknown>>

/** A broken handler, and the name that prove() must give it. */
export interface Exhibit {
  readonly title: string
  readonly expected: FailureName
  readonly options: ProveOptions
}

export const tables = `
  CREATE TABLE accounts (id TEXT PRIMARY KEY, balance INTEGER NOT NULL);
  INSERT INTO accounts VALUES ('alice', 100), ('bob', 0);
  CREATE TABLE payments (id TEXT PRIMARY KEY, amount INTEGER NOT NULL);
`

export const payments = [
  { id: 'p1', type: 'payment.received', key: 'alice', body: { account: 'alice', amount: 30 } },
  { id: 'p2', type: 'payment.received', key: 'alice', body: { account: 'alice', amount: 5 } },
] as const

/** The same without a key, so that they may run at the same time. */
export const unkeyedPayments = payments.map(({ key: _, ...payment }) => payment)

/** The usual proof with another handler. */
export function proofOf(
  handler: (message: Message<Payment>, context: SqliteContext) => unknown,
  changes: Partial<ProveOptions> = {},
): ProveOptions {
  return {
    setup: (db) => db.exec(tables),
    register: (app: App<SqliteStore<DatabaseSync>, Record<string, unknown>>) =>
      app.on('payment.received', 'book-payment', handler),
    messages: payments,
    ...changes,
  }
}

export function insertPayment({ tx }: Pick<SqliteContext, 'tx'>, { id, body }: Message<Payment>): void {
  tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(id, body.amount)
}

export function addToBalance({ tx }: Pick<SqliteContext, 'tx'>, { body }: Message<Payment>): void {
  tx.prepare('UPDATE accounts SET balance = balance + ? WHERE id = ?').run(body.amount, body.account)
}
