import { expect, test } from 'vitest'
import { CallLedger, type LedgerRules } from './call-ledger.ts'

const loan = { borrower: 'tag-note', onLateCall: () => {} }
const site = { isOver: () => false, tidy: async () => {} }
const rules: LedgerRules = {
  classify: () => 'none',
  findTransactionControl: () => undefined,
  endedBy: () => false,
  savepoints: { sameNameReplaces: false },
}

test('a call that the client throws out at once is not under way', async () => {
  const ledger = new CallLedger(loan, site, rules)
  const refusedByClient = (): never => {
    throw new TypeError('no callback, please')
  }
  expect(() => ledger.watched('SELECT 1', refusedByClient)).toThrow('no callback, please')
  expect(ledger.loan({}).settled()).toBeUndefined()
})

test('the word of the client that the transaction has ended counts only while nothing is under way', () => {
  const ledger = new CallLedger(loan, { ...site, hasEnded: () => true }, rules)
  const call = ledger.begin()
  expect(ledger.refusal('SELECT 1')).toBeUndefined()
  call.succeeded()
  expect(ledger.refusal('SELECT 1')).toMatchObject({ code: 'TX_ENDED' })
})
