import { AsyncLocalStorage } from 'node:async_hooks'
import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import postgresJs from 'postgres'
import { beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type App, type Message, messages } from '../../src/index.ts'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Proof, prove, type ScratchDatabase, scratchPostgres, scratchSqlite } from '../../src/testing/index.ts'
import { createDatabase, withClient } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { BetterSqlite3 } from '../sqlite/open-sqlite.ts'
import { type Payment, payments, proofOf, tables, unkeyedPayments } from './museum/payments.ts'
import { addToBalance, insertPayment, proofOn } from './museum/postgres.ts'

/** Every fault was really there, and nothing came of it. */
function expectProven(proof: Proof, steps: readonly string[]): void {
  expect(proof.failures, proof.report).toEqual([])
  for (const { rows, around } of proof.table) {
    expect(rows.map(({ step }) => step.kind)).toEqual(steps)
    for (const { verdicts } of rows) for (const verdict of Object.values(verdicts)) expect(verdict.kind).toBe('held')
    for (const verdict of Object.values(around)) expect(verdict.kind).toBe('held')
  }
}

describe('on SQLite', () => {
  test('node:sqlite, with messages that leave later', async () => {
    const proof = await prove({
      setup: (db) => db.exec('CREATE TABLE payments (id TEXT)'),
      register: (app) =>
        app.on('payment.received', 'book-payment', async ({ id }, { tx, publish }) => {
          tx.prepare('INSERT INTO payments VALUES (?)').run(id)
          await publish('receipt.wanted', { payment: id }, { delayMs: 1 })
          await publish('reminder.due', { payment: id }, { delayMs: 86_400_000 })
        }),
      messages: payments,
    })
    expectProven(proof, ['claim', 'query', 'publish', 'publish', 'bookkeeping', 'commit', 'ack'])
  })

  test('node:sqlite, with intended calls, which are not made', async () => {
    let calls = 0
    const proof = await prove({
      setup: (db) => db.exec('CREATE TABLE payments (id TEXT)'),
      register(app) {
        app.effect('email.receipt', { keyed: true, run: () => void calls++ })
        app.effect('card.charge', { elsewhere: true })
        app.on('payment.received', 'book-payment', async ({ id }, { tx, intend }) => {
          tx.prepare('INSERT INTO payments VALUES (?)').run(id)
          await intend('email.receipt', { payment: id })
          await intend('card.charge', { payment: id }, { key: `charge ${id}`, delayMs: 60_000 })
        })
      },
      messages: payments,
    })
    // The key of the user is claimed beside the record of the message.
    expectProven(proof, ['claim', 'query', 'intend', 'intend', 'claim', 'bookkeeping', 'commit', 'ack'])
    expect(proof.table[0]?.rows.map(({ step }) => step.text)).toContain('store the intended calls')
    expect(calls).toBe(0)
  })

  test('node:sqlite, with a number that the database counts and a time that it knows', async () => {
    const proof = await prove({
      setup: (db) =>
        db.exec(`CREATE TABLE payments (
        n INTEGER PRIMARY KEY, id TEXT UNIQUE, at TEXT DEFAULT (strftime('%Y-%m-%d %H:%M:%f')))`),
      register: (app) =>
        app.on('payment.received', 'book-payment', async ({ id }, { tx, publish }) => {
          const { lastInsertRowid } = tx.prepare('INSERT INTO payments (id) VALUES (?)').run(id)
          await publish('receipt.wanted', { payment: id }, { key: id })
          tx.prepare('SELECT n FROM payments WHERE n = ?').get(lastInsertRowid)
        }),
      messages: payments,
    })
    expectProven(proof, ['claim', 'query', 'publish', 'query', 'bookkeeping', 'commit', 'ack'])
    expect(proof.table.map(({ messageId }) => messageId)).toEqual(['p1', 'p2'])
    expect(proof.notes.join()).toContain('payments.at differs from run to run')
  })

  test('better-sqlite3', async () => {
    const proof = await prove({
      database: scratchSqlite({ open: (path) => new BetterSqlite3(path) }),
      setup: (db) => db.exec(tables),
      register: (app) =>
        app.on('payment.received', 'book-payment', ({ id }, { tx }) => {
          tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(id, 1)
        }),
      messages: payments,
    })
    expectProven(proof, ['claim', 'query', 'commit', 'ack'])
  })

  test('numbers that JavaScript cannot hold are kept and compared, whatever the driver makes of them', async () => {
    const large = 2n ** 53n - 1n
    const booking = (delivery: 'exactly-once' | 'at-least-once') => ({
      setup: (db: { exec(sql: string): unknown }) =>
        db.exec(`CREATE TABLE totals (n INTEGER); INSERT INTO totals VALUES (${large})`),
      register: (app: App<SqliteStore<DatabaseSync>, Record<string, unknown>>) =>
        app.on('payment.received', { name: 'book-payment', delivery }, (_, { tx }) => {
          tx.prepare('UPDATE totals SET n = n + 1').run()
        }),
      messages: payments.slice(0, 1),
    })
    const rounding = scratchSqlite({ open: (path) => new BetterSqlite3(path) }) as unknown as ScratchDatabase<
      SqliteStore<DatabaseSync>
    >
    for (const more of [{ database: rounding }, {}]) {
      const once = await prove({ ...booking('exactly-once'), ...more })
      expectProven(once, ['claim', 'query', 'commit', 'ack'])
      const repeated = await prove({ ...booking('at-least-once'), ...more })
      expect(repeated.report).toMatch(new RegExp(`n is .?${large + 2n}.? instead of .?${large + 1n}`))
    }
  })

  test('a handler that finds its tenant in what around has set', async () => {
    const tenant = new AsyncLocalStorage<string>()
    const proof = await prove({
      setup: (db) => db.exec(tables),
      app: { around: (_, next) => tenant.run('acme', next) },
      register: (app) =>
        app.on('payment.received', 'book-payment', ({ id }, { tx }) => {
          const name = tenant.getStore()
          if (name === undefined) throw new Error('Nobody has said whose payment this is.')
          tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(`${name} ${id}`, 1)
        }),
      messages: payments,
    })
    expectProven(proof, ['claim', 'query', 'commit', 'ack'])
  })

  test('several handlers, a schema, an id of the business, a result', async () => {
    const proof = await prove({
      setup: (db) => db.exec(tables),
      app: { messages: messages({ 'payment.received': z.object({ account: z.string(), amount: z.number() }) }) },
      register(app) {
        app.on(
          'payment.received',
          { name: 'book-payment', identify: ({ body }) => `${body.account}-${body.amount}`, keepResult: true },
          ({ body }, { tx }) => {
            tx.prepare('INSERT INTO payments (id, amount) VALUES (?, ?)').run(body.account + body.amount, body.amount)
            return { booked: body.amount }
          },
        )
        app.on('payment.received', 'add-to-balance', ({ body }, { tx }) => {
          tx.prepare('UPDATE accounts SET balance = balance + ? WHERE id = ?').run(body.amount, body.account)
        })
      },
      messages: payments,
    })
    expectProven(proof, ['claim', 'query', 'query', 'commit', 'ack'])
    expect(proof.table[0]?.handlers).toEqual(['book-payment', 'add-to-balance'])
    expect(proof.report).toContain('add-to-balance: UPDATE accounts')
  })

  test('a handler of batches, and one in a transaction of its own', async () => {
    const proof = await prove({
      setup: (db) => db.exec(tables),
      register(app) {
        app.onBatch('payment.received', 'book-payments', (all, { tx }) => {
          for (const { id } of all) tx.prepare('INSERT INTO payments (id, amount) VALUES (?, 1)').run(id)
        })
        app.on('payment.received', { name: 'add-to-balance', transaction: 'own' }, (_, { tx }) => {
          tx.prepare("UPDATE accounts SET balance = balance + 1 WHERE id = 'alice'").run()
        })
      },
      messages: payments,
    })
    expectProven(proof, ['claim', 'query', 'commit', 'claim', 'query', 'commit', 'ack'])
  })

  test('at least once and naturally idempotent is proven; not idempotent is not', async () => {
    const atLeastOnce = (sql: string) =>
      prove({
        ...proofOf(() => {}),
        register: (app) =>
          app.on('payment.received', { name: 'set-balance', delivery: 'at-least-once' }, (_, { tx }) => {
            tx.prepare(sql).run()
          }),
      })
    const idempotent = await atLeastOnce("UPDATE accounts SET balance = 130 WHERE id = 'alice'")
    expectProven(idempotent, ['query', 'commit', 'ack'])
    const repeated = await atLeastOnce("UPDATE accounts SET balance = balance + 30 WHERE id = 'alice'")
    expect(repeated.failures.map(({ name }) => name)).toEqual(['effect-differs'])
  })

  test('what is at most once is left out, and said so', async () => {
    const proof = await prove({
      ...proofOf(() => {}),
      register(app) {
        app.on('payment.received', { name: 'notify', delivery: 'at-most-once' }, () => {})
        app.on('payment.received', 'nothing', () => {})
      },
    })
    expectProven(proof, ['claim', 'commit', 'ack'])
    expect(proof.notes.join()).toContain('notify is at-most-once')
  })

  test('what else belongs to the effect is observed', async () => {
    const files = new Map<string, string>()
    const proof = await prove(
      proofOf(
        ({ id }, { afterCommit }) => {
          afterCommit(() => files.set(id, 'there'))
        },
        { reset: () => files.clear(), observe: () => ({ files }) },
      ),
    )
    // After the commit means at most once: a crash in between loses it, and the proof says where.
    expect(proof.failures.map(({ name }) => name)).toEqual(['effect-lost'])
    expect(proof.failures[0]?.where).toBe('crash after commit of p1')
  })
})

const postgres = await requireServer('postgres')

describe.skipIf(!postgres.available)('on Postgres', () => {
  let url = ''
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  test('pg, with serial ids and times; nothing of the scratch schema stays', async () => {
    const proof = await prove(
      proofOn(url, async (message, context) => {
        await insertPayment(context, message)
        await addToBalance(context, message)
        await context.publish('receipt.wanted', { payment: message.id })
      }),
    )
    expectProven(proof, ['claim', 'query', 'query', 'publish', 'bookkeeping', 'commit', 'ack'])
    expect(proof.checks.map(({ verdict }) => verdict.kind)).toEqual(['held', 'held', 'held'])
    const schemas = await withClient(url, (client) =>
      client.query(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'justonce%'`),
    )
    expect(schemas.rows).toEqual([])
  })

  test.each([
    { messages: unkeyedPayments, verdict: 'held' },
    { messages: payments, verdict: 'not-applicable' },
  ])('pg, interleaved, with statements that need no other: $verdict', async ({ messages, verdict }) => {
    const proof = await prove(
      proofOn(url, () => {}, {
        messages,
        register: (app) =>
          app.on('payment.received', { name: 'book-payment', interleave: true }, async (message, context) => {
            await insertPayment(context, message as Message<Payment>)
            await addToBalance(context, message as Message<Payment>)
          }),
      }),
    )
    expectProven(proof, ['claim', 'query', 'query', 'commit', 'ack'])
    expect(proof.checks.at(-1)).toMatchObject({
      title: expect.stringContaining('interleave'),
      verdict: { kind: verdict },
    })
  })

  test('pg, interleaved, with a setting that all of the transaction would share: said in a note', async () => {
    const proof = await prove(
      proofOn(url, () => {}, {
        messages: unkeyedPayments,
        register: (app) =>
          app.on('payment.received', { name: 'book-payment', interleave: true }, async (message, context) => {
            await context.tx.query(`SET LOCAL app.tenant = 'acme'`)
            await insertPayment(context, message as Message<Payment>)
          }),
      }),
    )
    expect(proof.failures, proof.report).toEqual([])
    expect(proof.notes.join()).toMatch(/book-payment.*used SET/)
  })

  test('pg, with a number that JavaScript cannot hold: raised twice is not raised once', async () => {
    const large = 2n ** 53n - 1n
    const proof = await prove(
      proofOn(url, () => {}, {
        setup: (db) => db.query(`CREATE TABLE totals (n bigint); INSERT INTO totals VALUES (${large})`),
        register: (app) =>
          app.on('payment.received', { name: 'book-payment', delivery: 'at-least-once' }, async (_, { tx }) => {
            await tx.query('UPDATE totals SET n = n + 1')
          }),
        messages: payments.slice(0, 1),
      }),
    )
    expect(proof.report).toMatch(new RegExp(`n is .?${large + 2n}.? instead of .?${large + 1n}`))
  })

  test('pg, reading under a lock before writing', async () => {
    const proof = await prove(
      proofOn(url, async ({ body }, { tx }) => {
        const account = [body.account]
        const { rows } = await tx.query('SELECT balance FROM accounts WHERE id = $1 FOR UPDATE', account)
        await tx.query('UPDATE accounts SET balance = $2 WHERE id = $1', [...account, rows[0].balance + body.amount])
      }),
    )
    expectProven(proof, ['claim', 'query', 'query', 'commit', 'ack'])
  })

  test('pg, with callbacks and with several queries at once', async () => {
    const proof = await prove(
      proofOn(url, async (message, context) => {
        await new Promise<void>((resolve, reject) => {
          context.tx.query('SELECT 1', (error: Error | null) => (error ? reject(error) : resolve()))
        })
        await Promise.all([insertPayment(context, message), addToBalance(context, message)])
      }),
    )
    expectProven(proof, ['claim', 'query', 'query', 'query', 'commit', 'ack'])
  })

  test('tables with triggers and with a circle between them', async () => {
    const proof = await prove(
      proofOn(url, insertPaymentOnly, {
        setup: (db) =>
          db.query(`
            CREATE TABLE a (id int PRIMARY KEY, b int);
            CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a);
            ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b;
            CREATE TABLE payments (id text, amount int);
            CREATE TABLE log (id text);
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN INSERT INTO log VALUES (NEW.id); RETURN NEW; END $$;
            CREATE TRIGGER noted AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION note();
            INSERT INTO payments VALUES ('p0', 1)`),
        messages: payments.slice(0, 1),
      }),
    )
    expectProven(proof, ['claim', 'query', 'commit', 'ack'])
  })

  test('postgres.js', async () => {
    const proof = await prove({
      database: scratchPostgres({ url, connect: (scratch) => postgresJs(scratch, { max: 6, onnotice: () => {} }) }),
      setup: (sql) => sql.unsafe(tables),
      register: (app) =>
        app.on('payment.received', 'book-payment', async ({ id }, { tx }) => {
          const columns = tx`id, amount`
          await tx`INSERT INTO payments (${columns}) VALUES (${id}, ${1})`
          await tx.unsafe('UPDATE accounts SET balance = balance + $1 WHERE id = $2', [1, 'alice'])
        }),
      messages: payments,
    })
    expectProven(proof, ['claim', 'query', 'query', 'commit', 'ack'])
    expect(proof.table[0]?.rows[1]?.step.text).toContain('INSERT INTO payments (id, amount) VALUES')
  })

  test('postgres.js, where a query that nobody awaits is never sent', async () => {
    const proof = await prove({
      database: scratchPostgres({ url, connect: (scratch) => postgresJs(scratch, { max: 6, onnotice: () => {} }) }),
      setup: (sql) => sql.unsafe(tables),
      register: (app) =>
        app.on('payment.received', 'book-payment', async ({ id }, { tx }) => {
          tx`INSERT INTO payments (id, amount) VALUES (${id}, 1)`
        }),
      messages: payments,
    })
    expect(
      proof.failures.map(({ name }) => name),
      proof.report,
    ).toEqual(['not-awaited'])
  })
})

function insertPaymentOnly(message: Parameters<typeof insertPayment>[1], context: { readonly tx: pg.PoolClient }) {
  return context.tx.query('INSERT INTO payments (id, amount) VALUES ($1, $2)', [message.id, message.body.amount])
}
