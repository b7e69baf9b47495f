import { beforeAll, describe, expect, test } from 'vitest'
import { prove } from '../../src/testing/index.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'
import { type Payment, unkeyedPayments } from './museum/payments.ts'
import { postgresExhibits, proofOn } from './museum/postgres.ts'

const postgres = await requireServer('postgres')

const locked = 'SELECT balance FROM accounts WHERE id = $1 FOR UPDATE'

describe.skipIf(!postgres.available)('broken handlers on Postgres', () => {
  let url = ''
  beforeAll(async () => {
    url = await createDatabase(postgres.url)
  })

  test.each(postgresExhibits)('$title: $expected', async ({ options, expected }) => {
    const proof = await prove(options(url))
    const name = proof.failures.filter(({ isAllowed }) => !isAllowed).map((failure) => failure.name)
    expect(name, proof.report).toEqual([expected])
    expect(proof.ok).toBe(false)
  })

  test('a handler that interleaves badly is compared with both orders', async () => {
    const proof = await prove({
      ...proofOn(url, () => {}, { messages: unkeyedPayments }),
      register: (app) =>
        app.on('payment.received', { name: 'double-and-add', interleave: true }, async (message, { tx }) => {
          const { account, amount } = message.body as Payment
          const { rows } = await tx.query<{ balance: number }>(locked, [account])
          const balance = (rows[0]?.balance ?? 0) * 2 + amount
          await tx.query('UPDATE accounts SET balance = $1 WHERE id = $2', [balance, account])
        }),
    })
    expect(proof.failures.map(({ name }) => name)).toEqual(['interleaves-badly'])
    const balances = proof.failures[0]?.orders.map(({ order, differences }) => [
      order,
      ...differences.map(({ expected, found }) => [expected?.balance, found?.balance]),
    ])
    expect(balances).toEqual([
      ['p1 before p2', [465, 230]],
      ['p2 before p1', [440, 230]],
    ])
    expect(proof.report.replaceAll(/^ +/gm, '')).toContain(
      `p1 and p2 had an effect that neither order has.
Compared with p1 before p2:
accounts: { id: 'alice' }  balance is 230 instead of 465
Compared with p2 before p1:
accounts: { id: 'alice' }  balance is 230 instead of 440
`,
    )
  })

  test('what differs from run to run is not taken for messages that disturb each other', async () => {
    let period = 'before'
    const proof = await prove({
      ...proofOn(url, () => {}, { messages: unkeyedPayments }),
      observe: () => ({ period }),
      register: (app) =>
        app.on('payment.received', { name: 'book-payment', interleave: true }, async ({ id, body }, { tx }) => {
          await tx.query('INSERT INTO payments (id, amount) VALUES ($1, $2)', [id, (body as Payment).amount])
        }),
      // A clock that moves on between the undisturbed run and the one in which the messages are mixed.
      onProgress({ doing }) {
        if (doing.includes('in the same transaction')) period = 'after'
      },
    })
    expect(proof.failures, proof.report).toEqual([])
    expect(proof.notes.join()).toContain('period')
  })
})
