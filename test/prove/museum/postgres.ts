import pg from 'pg'
import type { HandlerContext, Message } from '../../../src/index.ts'
import type { PostgresStore } from '../../../src/stores/postgres/index.ts'
import { type FailureName, type ProveOptions, type ScratchPlace, scratchPostgres } from '../../../src/testing/index.ts'
import { type Payment, payments, unkeyedPayments } from './payments.ts'

type Store = PostgresStore<pg.PoolClient>
type Context = HandlerContext<Store, Record<string, unknown>>

export interface PostgresExhibit {
  readonly title: string
  readonly expected: FailureName
  options(url: string): ProveOptions<Store>
}

const tables = `
  CREATE TABLE accounts (id text PRIMARY KEY, balance int NOT NULL);
  INSERT INTO accounts VALUES ('alice', 100), ('bob', 0);
  CREATE TABLE payments (n serial PRIMARY KEY, id text UNIQUE, amount int NOT NULL, at timestamptz DEFAULT now());
`

export function proofOn(
  url: string,
  handler: (message: Message<Payment>, context: Context, place: ScratchPlace) => unknown,
  changes: Partial<ProveOptions<Store>> = {},
): ProveOptions<Store> {
  return {
    database: scratchPostgres({ url, connect: (scratch) => new pg.Pool({ connectionString: scratch, max: 6 }) }),
    setup: (db) => db.query(tables),
    register: (app, place) =>
      app.on('payment.received', 'book-payment', (message: Message<Payment>, context) =>
        handler(message, context, place),
      ),
    messages: payments,
    ...changes,
  }
}

export async function insertPayment({ tx }: Pick<Context, 'tx'>, { id, body }: Message<Payment>): Promise<void> {
  await tx.query('INSERT INTO payments (id, amount) VALUES ($1, $2)', [id, body.amount])
}

export async function addToBalance({ tx }: Pick<Context, 'tx'>, { body }: Message<Payment>): Promise<void> {
  await tx.query('UPDATE accounts SET balance = balance + $1 WHERE id = $2', [body.amount, body.account])
}

export const postgresExhibits: readonly PostgresExhibit[] = [
  {
    title: 'writes through a pool of its own',
    expected: 'writes-outside-tx',
    options(url) {
      let pool: pg.Pool | undefined
      return proofOn(
        url,
        async (message, _, place) => {
          pool ??= new pg.Pool({ connectionString: place.url, max: 1, allowExitOnIdle: true })
          await pool
            .query('INSERT INTO payments (id, amount) VALUES ($1, $2)', [`${message.id}-own`, 1])
            .catch(() => {})
        },
        { allow: ['calls-out'] },
      )
    },
  },
  {
    title: 'reads, computes and writes back without a lock',
    expected: 'lost-update',
    options: (url) =>
      proofOn(url, async ({ body }, { tx }) => {
        const { rows } = await tx.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
          body.account,
        ])
        const balance = (rows[0]?.balance ?? 0) + body.amount
        await tx.query('UPDATE accounts SET balance = $1 WHERE id = $2', [balance, body.account])
      }),
  },
  {
    title: 'interleaves although it reads, computes and writes back, with a lock',
    expected: 'interleaves-badly',
    options: (url) =>
      proofOn(url, () => {}, {
        messages: unkeyedPayments,
        register: (app) =>
          app.on('payment.received', { name: 'book-payment', interleave: true }, async (message, { tx }) => {
            const { account, amount } = message.body as Payment
            const locked = 'SELECT balance FROM accounts WHERE id = $1 FOR UPDATE'
            const { rows } = await tx.query<{ balance: number }>(locked, [account])
            const balance = (rows[0]?.balance ?? 0) + amount
            await tx.query('UPDATE accounts SET balance = $1 WHERE id = $2', [balance, account])
          }),
      }),
  },
  {
    title: 'goes on after a database error',
    expected: 'swallows-error',
    options: (url) =>
      proofOn(url, async (message, context) => {
        await insertPayment(context, message)
        await addToBalance(context, message).catch(() => {})
      }),
  },
  {
    title: 'goes on after an error that it has fenced in',
    expected: 'swallows-error',
    options: (url) =>
      proofOn(url, async (message, context) => {
        await insertPayment(context, message)
        await context.tx.query('SAVEPOINT balance')
        try {
          await addToBalance(context, message)
        } catch {
          await context.tx.query('ROLLBACK TO balance')
        }
      }),
  },
  {
    title: 'forgets to await a query',
    expected: 'not-awaited',
    options: (url) =>
      proofOn(url, async (message, context) => {
        await insertPayment(context, message)
        void addToBalance(context, message)
      }),
  },
  {
    title: 'leaves siblings running when Promise.all rejects',
    expected: 'runs-on',
    options: (url) =>
      proofOn(url, async (message, context) => {
        const later = async (): Promise<void> => {
          await new Promise((resolve) => setTimeout(resolve, 5))
          await addToBalance(context, message)
        }
        await Promise.all([insertPayment(context, message), later()])
      }),
  },
  {
    title: 'commits by itself',
    expected: 'commits-itself',
    options: (url) =>
      proofOn(url, async (message, context) => {
        await insertPayment(context, message)
        await context.tx.query('COMMIT')
      }),
  },
  {
    title: 'tells its transaction from others',
    expected: 'depends-on-batch',
    options: (url) =>
      proofOn(url, async ({ id, body }, { tx }) => {
        const before = 'SELECT count(*) FROM payments WHERE xmin = pg_current_xact_id()::xid'
        await tx.query(`INSERT INTO payments (id, amount) VALUES ($1, $2 + (${before}))`, [id, body.amount])
      }),
  },
]
