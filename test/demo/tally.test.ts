import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Bank, createTables, credit, openBank } from '../../demo/bank.ts'
import { accounts, type Payment } from '../../demo/plan.ts'
import { figuresOf, isExact, tally } from '../../demo/tally.ts'

const payments: readonly Payment[] = ['p1', 'p2', 'p3'].map((id, i) => ({
  id,
  account: accounts[i]!,
  cents: 100 * i + 1,
}))
const [p1, p2, p3] = payments as [Payment, Payment, Payment]

let folder: string
let bank: Bank

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'justonce-tally-'))
  bank = await openBank({ kind: 'sqlite', path: join(folder, 'bank.db') })
  await createTables(bank)
})

afterEach(async () => {
  await bank.close()
  rmSync(folder, { recursive: true, force: true })
})

function credited(payment: Payment, copy: number): Promise<void> {
  return bank.store.transaction((tx) => credit(bank, tx, payment, copy))
}

describe('the tally', () => {
  test('of three payments in five copies, each credited once: exact, two duplicates', async () => {
    for (const payment of payments) await credited(payment, 1)
    const result = await tally(bank, { payments, sent: 5, unsettled: 0, kills: 2 })
    const exact = { messages: 3, deliveries: 5, duplicates: 2, kills: 2, effects: 3, lost: 0, doubled: 0 }
    expect(figuresOf(result)).toEqual(exact)
    expect(isExact(result)).toBe(true)
  })

  test('reports a payment without a row as lost', async () => {
    await credited(p1, 1)
    await credited(p3, 1)
    const result = await tally(bank, { payments, sent: 3, unsettled: 0, kills: 0 })
    expect(result).toMatchObject({ effects: 2, lost: 1, doubled: 0 })
    expect(isExact(result)).toBe(false)
  })

  test('reports a second row as doubled, and whether it came of another copy or of the same', async () => {
    for (const payment of payments) await credited(payment, 1)
    await credited(p2, 2)
    await credited(p3, 1)
    const result = await tally(bank, { payments, sent: 4, unsettled: 0, kills: 1 })
    expect(result).toMatchObject({ effects: 5, lost: 0, doubled: 2, doubledByRepeats: 1, duplicates: 0 })
    expect(isExact(result)).toBe(false)
  })

  test('does not let a doubled payment make up for a lost one', async () => {
    await credited(p1, 1)
    await credited(p1, 2)
    await credited(p2, 1)
    const result = await tally(bank, { payments, sent: 4, unsettled: 0, kills: 0 })
    expect(result).toMatchObject({ effects: 3, lost: 1, doubled: 1 })
    expect(isExact(result)).toBe(false)
  })

  test('counts a row for a payment that nobody sent as one too many', async () => {
    for (const payment of payments) await credited(payment, 1)
    await credited({ ...p1, id: 'never-sent' }, 1)
    const result = await tally(bank, { payments, sent: 3, unsettled: 0, kills: 0 })
    expect(result).toMatchObject({ lost: 0, doubled: 1 })
  })

  test('finds an account that contradicts the ledger, though the ledger is right', async () => {
    for (const payment of payments) await credited(payment, 1)
    await bank.store.transaction((tx) =>
      bank.run(tx, 'UPDATE accounts SET cents = cents + 1 WHERE id = $1', [p1.account]),
    )
    const result = await tally(bank, { payments, sent: 3, unsettled: 0, kills: 0 })
    expect(result).toMatchObject({ lost: 0, doubled: 0, wrongAccounts: 1 })
    expect(isExact(result)).toBe(false)
  })

  test('finds a payment that was credited with another amount', async () => {
    await credited({ ...p1, cents: p1.cents + 5 }, 1)
    await credited(p2, 1)
    await credited(p3, 1)
    const result = await tally(bank, { payments, sent: 3, unsettled: 0, kills: 0 })
    expect(result).toMatchObject({ lost: 0, doubled: 0, wrongAccounts: 0 })
    expect(isExact(result)).toBe(false)
  })
})
