import { setTimeout as pause } from 'node:timers/promises'
import type { Queue, Store } from '../src/contracts/index.ts'
import { openSqliteBank } from './bank-sqlite.ts'
import { accounts, type Payment } from './plan.ts'

/** Where a side keeps everything: small enough to be handed to its worker processes. */
export type BankPlace =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }

export type Row = Readonly<Record<string, unknown>>

/** The database of one side, whichever it is. Placeholders are written $1, $2, … */
export interface Bank<Tx = unknown> {
  readonly store: Store<Tx> & { readonly queue: Queue<Tx> }
  run(tx: Tx, sql: string, values?: readonly (string | number)[]): Promise<void>
  /** What is committed, seen from outside of the workers. */
  read(sql: string): Promise<readonly Row[]>
  close(): Promise<void>
}

export async function openBank(place: BankPlace): Promise<Bank> {
  if (place.kind === 'sqlite') return openSqliteBank(place)
  // Workers are started often, and mostly have no use for this.
  const { openPostgresBank } = await import('./bank-postgres.ts')
  return await openPostgresBank(place)
}

/** A ledger that takes a payment as often as it is credited: nothing here would stop or hide a double. */
const tables = [
  'CREATE TABLE ledger (payment text NOT NULL, copy integer NOT NULL, account text NOT NULL, cents integer NOT NULL)',
  'CREATE TABLE accounts (id text PRIMARY KEY, cents bigint NOT NULL)',
]

export async function createTables<Tx>({ store, run }: Bank<Tx>): Promise<void> {
  await store.schema.install()
  await store.transaction(async (tx) => {
    for (const sql of tables) await run(tx, sql)
    for (const account of accounts) await run(tx, 'INSERT INTO accounts (id, cents) VALUES ($1, 0)', [account])
  })
}

/** The work that both kinds of worker do for a message: the effect that must happen once. */
export async function credit<Tx>({ run }: Bank<Tx>, tx: Tx, payment: Payment, copy: number): Promise<void> {
  const { id, account, cents } = payment
  await run(tx, 'INSERT INTO ledger (payment, copy, account, cents) VALUES ($1, $2, $3, $4)', [
    id,
    copy,
    account,
    cents,
  ])
  // Some take longer than others, as it is with handlers, and many kills strike here, between the two writes.
  if (cents % 2 === 0) await pause(1)
  await run(tx, 'UPDATE accounts SET cents = cents + $2 WHERE id = $1', [account, cents])
}
