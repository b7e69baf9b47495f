import { createPool, type PoolConnection, type PoolOptions, type RowDataPacket } from 'mysql2/promise'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { HandlerContext, Message } from '../../src/index.ts'
import { insertOnce, add as plus, updateIf } from '../../src/patterns/index.ts'
import type { MysqlStore } from '../../src/stores/mysql/index.ts'
import { type ProveOptions, prove, scratchMysql } from '../../src/testing/index.ts'
import { askMysql, createMysqlDatabase } from '../servers/mysql-databases.ts'
import { requireServer } from '../servers/require.ts'
import { type Payment, payments } from './museum/payments.ts'

type Store = MysqlStore<PoolConnection>
type Context = HandlerContext<Store, Record<string, unknown>>

const mariadb = await requireServer('mariadb')
const insert = 'INSERT INTO payments (id, amount) VALUES (?, ?)'
const add = 'UPDATE accounts SET balance = balance + ? WHERE id = ?'

describe.skipIf(!mariadb.available)('on MySQL', () => {
  let url = ''
  beforeAll(async () => {
    url = await createMysqlDatabase(mariadb.url)
  })

  function proofOn(handler: (message: Message<Payment>, context: Context) => unknown): ProveOptions<Store> {
    return {
      database: scratchMysql({ url, connect: (scratch) => createPool({ uri: scratch, connectionLimit: 6 }) }),
      async setup(db) {
        await db.query('CREATE TABLE accounts (id varchar(20) PRIMARY KEY, balance int NOT NULL)')
        await db.query(`INSERT INTO accounts VALUES ('alice', 100), ('bob', 0)`)
        await db.query(`CREATE TABLE payments (n int AUTO_INCREMENT PRIMARY KEY, id varchar(20) UNIQUE, amount int NOT NULL,
          at timestamp(3) DEFAULT CURRENT_TIMESTAMP(3))`)
      },
      register: (app) => app.on('payment.received', 'book-payment', handler),
      messages: payments,
    }
  }

  test('a good handler is proven, and nothing of the scratch databases stays', async () => {
    const proof = await prove(
      proofOn(async ({ id, body }, { tx, publish }) => {
        await tx.query(insert, [id, body.amount])
        await tx.execute(add, [body.amount, body.account])
        await publish('receipt.wanted', { payment: id })
      }),
    )
    expect(proof.failures, proof.report).toEqual([])
    const kinds = ['claim', 'query', 'query', 'publish', 'bookkeeping', 'commit', 'ack']
    expect(proof.table[0]?.rows.map(({ step }) => step.kind)).toEqual(kinds)
    expect(proof.checks.map(({ verdict }) => verdict.kind)).toEqual(['held', 'held', 'held'])
    expect(await askMysql(mariadb.url, `SHOW DATABASES LIKE 'justonce_prove%'`)).toEqual([])
  })

  test('a number that JavaScript cannot hold: raised twice is not raised once', async () => {
    const large = 2n ** 53n - 1n
    const proof = await prove({
      ...proofOn(() => {}),
      async setup(db) {
        await db.query('CREATE TABLE totals (n bigint)')
        await db.query(`INSERT INTO totals VALUES (${large})`)
      },
      register: (app) =>
        app.on('payment.received', { name: 'book-payment', delivery: 'at-least-once' }, async (_, { tx }) => {
          await tx.query('UPDATE totals SET n = n + 1')
        }),
      messages: payments.slice(0, 1),
    })
    expect(proof.report).toMatch(new RegExp(`n is .?${large + 2n}.? instead of .?${large + 1n}`))
  })

  test('a handler made of patterns is proven', async () => {
    const proof = await prove(
      proofOn(async ({ id, body }, { tx }) => {
        const inserted = await insertOnce(tx, 'payments', { id, amount: body.amount }, { unique: ['id'] })
        if (inserted.kind === 'inserted')
          await updateIf(
            tx,
            'accounts',
            { id: body.account },
            { if: { id: body.account }, set: { balance: plus(body.amount) } },
          )
      }),
    )
    expect(proof.failures, proof.report).toEqual([])
  })

  test.each([
    {
      expected: 'lost-update',
      async handler({ body }: Message<Payment>, { tx }: Context) {
        const [rows] = await tx.query<RowDataPacket[]>('SELECT balance FROM accounts WHERE id = ?', [body.account])
        await tx.query('UPDATE accounts SET balance = ? WHERE id = ?', [rows[0]?.balance + body.amount, body.account])
      },
    },
    {
      expected: 'swallows-error',
      async handler({ id, body }: Message<Payment>, { tx }: Context) {
        await tx.query(insert, [id, body.amount])
        await tx.execute(add, [body.amount, body.account]).catch(() => {})
      },
    },
    {
      expected: 'not-awaited',
      async handler({ id, body }: Message<Payment>, { tx }: Context) {
        await tx.query(insert, [id, body.amount])
        void tx.execute(add, [body.amount, body.account])
      },
    },
    {
      expected: 'commits-itself',
      async handler({ id, body }: Message<Payment>, { tx }: Context) {
        await tx.query(insert, [id, body.amount])
        await tx.query('COMMIT')
      },
    },
  ])('a broken one is not: $expected', async ({ expected, handler }) => {
    const proof = await prove(proofOn(handler))
    expect(
      proof.failures.map(({ name }) => name),
      proof.report,
    ).toEqual([expected])
  })

  test.each<[string, PoolOptions]>([
    ['as they are by default', {}],
    ['as arrays', { rowsAsArray: true }],
    ['by table', { nestTables: true }],
    ['cast by the user', { typeCast: () => 'mine' }],
  ])('a copy has what was set up, computed columns included, where the pool makes rows %s', async (_, options) => {
    const scratch = scratchMysql<PoolConnection>({
      url,
      connect: (uri) => createPool({ connectionLimit: 4, ...options, uri }),
    })
    const prepared = await scratch.prepare(async (db) => {
      await db.query('CREATE TABLE prices (id int PRIMARY KEY, net int, gross int AS (net * 2) STORED)')
      await db.query('INSERT INTO prices (id, net) VALUES (1, 50)')
    })
    onTestFinished(() => prepared.remove())
    const copy = await prepared.fresh()
    expect(await copy.tables()).toEqual(new Map([['prices', [{ id: 1, net: 50, gross: 100 }]]]))
    expect((await copy.facts()).get('prices')?.primaryKey).toEqual(['id'])
  })
})
