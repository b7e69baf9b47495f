import fc from 'fast-check'
import { expect } from 'vitest'
import {
  applyEntry,
  deleteOnce,
  insertOnce,
  recordEntry,
  settleEntries,
  transfer,
  upsert,
} from '../../src/patterns/index.ts'
import { type Domain, rowsOf, small } from './domain.ts'

interface Bank {
  readonly balances: readonly number[]
  /** `transfer/account amount`. */
  readonly entries: readonly string[]
}
type BankOp = { readonly id: string; readonly amount: number } & (
  | { readonly fn: 'applyEntry'; readonly account: number; readonly atLeast: number | null }
  | { readonly fn: 'transfer'; readonly from: number; readonly to: number }
)
type BankEnd = { readonly state: Bank; readonly answer: readonly unknown[] }

/** The third account does not exist. Ids are used for several things, as they should not be. */
export const bank: Domain<Bank, BankOp> = {
  ops: fc.oneof(
    fc.record({
      fn: fc.constant('applyEntry' as const),
      id: fc.constantFrom('a', 'b', 'c'),
      account: fc.constantFrom(0, 0, 1, 1, 2),
      amount: small(-6, 6),
      atLeast: fc.constantFrom(0, null, -3),
    }),
    fc
      .record({ id: fc.constantFrom('a', 'b', 'd', 'e'), from: small(0, 2), step: small(1, 2), amount: small(1, 6) })
      .map(({ id, from, step, amount }) => ({ fn: 'transfer' as const, id, from, to: (from + step) % 3, amount })),
  ),
  from: { balances: [5, 5], entries: [] },
  step(state, op) {
    if (op.fn === 'applyEntry') return entered(state, op.id, op.account, op.amount, op.atLeast)
    for (const account of [op.from, op.to]) if (account === 2) return { state, answer: ['missing', account] }
    const taken = entered(state, op.id, op.from, -op.amount, 0)
    if (taken.answer[0] !== 'applied' && taken.answer[0] !== 'duplicate') return taken
    // Both halves belong to the same transfer, or the id is that of another one.
    const given = entered(taken.state, op.id, op.to, op.amount, null)
    return given.answer[0] === taken.answer[0] ? given : { state, answer: ['KEY_REUSED'] }
  },
  open(at, world) {
    const account = (of: number) => 1_000_000 + world * 3 + of
    const id = (of: string) => `b${world}-${of}`
    const books = { ledger: at('entries'), balances: at('accounts') }
    return {
      async prepare(tx) {
        for (const of of [0, 1])
          await insertOnce(tx, at('accounts'), { account: account(of), balance: 5 }, { unique: ['account'] })
      },
      async call(tx, op) {
        const { amount } = op
        const answer =
          op.fn === 'applyEntry'
            ? await applyEntry(tx, books, {
                ...{ transfer: id(op.id), account: account(op.account), amount, atLeast: op.atLeast },
              })
            : await transfer(tx, books, { transfer: id(op.id), from: account(op.from), to: account(op.to), amount })
        if (answer.kind === 'missing') return ['missing', Number(answer.account) - account(0)]
        return answer.kind === 'refused' ? ['refused', Number(answer.balance)] : [answer.kind]
      },
      async state(tx) {
        const balances: number[] = []
        const entries: string[] = []
        for (const of of [0, 1, 2]) {
          for (const { balance } of await rowsOf(tx, at('accounts'), { account: account(of) }))
            balances.push(Number(balance))
          for (const entry of await rowsOf(tx, at('entries'), { account: account(of) }))
            entries.push(`${String(entry.transfer).slice(id('').length)}/${of} ${Number(entry.amount)}`)
        }
        return { balances, entries: entries.toSorted() }
      },
    }
  },
}

function entered(state: Bank, id: string, account: number, amount: number, atLeast: number | null): BankEnd {
  const entry = `${id}/${account} ${amount}`
  if (state.entries.includes(entry)) return { state, answer: ['duplicate'] }
  if (state.entries.some((each) => each.startsWith(`${id}/${account} `))) return { state, answer: ['KEY_REUSED'] }
  const balance = state.balances[account]
  if (balance === undefined) return { state, answer: ['missing', account] }
  if (atLeast !== null && balance + amount < atLeast) return { state, answer: ['refused', balance] }
  const balances = state.balances.with(account, balance + amount)
  return { state: { balances, entries: [...state.entries, entry].toSorted() }, answer: ['applied'] }
}

/** `account/transfer amount`. */
type Later = readonly string[]
type LaterOp =
  | { readonly fn: 'recordEntry'; readonly id: string; readonly account: number; readonly amount: number }
  | { readonly fn: 'settleEntries'; readonly limit: number }

/**
 * How many entries are settled is up to chance, because settling passes over what somebody else has locked. So the model has entries
 * only, and whoever reads the state compares the balances with those that are settled. The third account does not exist.
 */
export const later: Domain<Later, LaterOp> = {
  ops: fc.oneof(
    fc.record({
      fn: fc.constant('recordEntry' as const),
      id: fc.constantFrom('a', 'b', 'c'),
      account: small(0, 2),
      amount: small(-6, 6),
    }),
    fc.record({ fn: fc.constant('settleEntries' as const), limit: small(1, 5) }),
  ),
  from: [],
  step(state, op) {
    if (op.fn === 'settleEntries') return { state, answer: 'settled' }
    const entry = `${op.account}/${op.id} `
    if (state.includes(`${entry}${op.amount}`)) return { state, answer: 'duplicate' }
    if (state.some((each) => each.startsWith(entry))) return { state, answer: ['KEY_REUSED'] }
    return { state: [...state, `${entry}${op.amount}`].toSorted(), answer: 'recorded' }
  },
  open(at) {
    const books = { ledger: at('later_entries'), balances: at('later_accounts') }
    return {
      async prepare(tx) {
        for (const account of [0, 1, 2])
          for (const transfer of ['a', 'b', 'c']) await deleteOnce(tx, books.ledger, { transfer, account })
        for (const account of [0, 1]) await upsert(tx, books.balances, { account, balance: 5 }, { unique: ['account'] })
      },
      async call(tx, op) {
        if (op.fn === 'recordEntry')
          return (await recordEntry(tx, books, { transfer: op.id, account: op.account, amount: op.amount })).kind
        await settleEntries(tx, books, { limit: op.limit })
        return 'settled'
      },
      async state(tx) {
        const seen: string[] = []
        for (const account of [0, 1, 2]) {
          const entries = await rowsOf(tx, books.ledger, { account })
          const settled = entries.filter((entry) => Number(entry.settled) === 1)
          for (const { balance } of await rowsOf(tx, books.balances, { account }))
            expect(Number(balance)).toBe(settled.reduce((sum, { amount }) => sum + Number(amount), 5))
          if (account === 2) expect(settled).toEqual([])
          for (const { transfer, amount } of entries) seen.push(`${account}/${transfer} ${Number(amount)}`)
        }
        return seen.toSorted()
      },
    }
  },
}
