import fc from 'fast-check'
import { isJustonceError } from '../../src/index.ts'
import {
  add,
  applyEntry,
  atMost,
  deleteOnce,
  insertManyOnce,
  insertOnce,
  type Row,
  release,
  reserve,
  softDelete,
  stateMachine,
  take,
  transfer,
  transition,
  updateIf,
  updateVersioned,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { tableName, whereOf } from '../../src/patterns/sql/conditions.ts'
import { sql } from '../../src/patterns/sql/fragment.ts'
import { runnerOf } from '../../src/patterns/sql/runner.ts'
import type { Step } from './linearize.ts'
import type { Place } from './places.ts'

/** Functions that work on the same rows, and what each of them would do alone. */
export interface Domain<State, Op> {
  readonly ops: fc.Arbitrary<Op>
  readonly from: State
  readonly step: Step<State, Op>
  /** Keys are different in each world. */
  open(at: Place['table'], world: number): Opened<State, Op>
}

export interface Opened<State, Op> {
  prepare(tx: unknown): Promise<void>
  call(tx: unknown, op: Op): Promise<unknown>
  state(tx: unknown): Promise<State>
}

const small = (min: number, max: number) => fc.integer({ min, max })

/** Rows as they are: numbers instead of the texts that clients make of decimals. */
async function rowsOf(tx: unknown, table: ReturnType<Place['table']>, where: Row): Promise<readonly Row[]> {
  return await runnerOf(tx).rows(sql`SELECT * FROM ${tableName(table)} WHERE ${whereOf(where)}`)
}

type Invoices = Readonly<Record<string, number>>
type InvoiceOp = { readonly fn: 'insertOnce' | 'upsert' | 'deleteOnce'; readonly of: number; readonly total: number }

const invoices: Domain<Invoices, InvoiceOp> = {
  ops: fc.record({
    fn: fc.constantFrom('insertOnce', 'insertOnce', 'upsert', 'deleteOnce'),
    of: small(0, 1),
    total: small(1, 5),
  }),
  from: { 0: 0, 1: 0 },
  step(state, { fn, of, total }) {
    const now = state[of] as number
    const to = (value: number, answer: unknown) => ({ state: { ...state, [of]: value }, answer })
    if (fn === 'deleteOnce') return to(0, now === 0 ? 'missing' : 'deleted')
    if (fn === 'upsert') return to(total, now === 0 ? 'inserted' : 'updated')
    return now === 0 ? to(total, 'inserted') : to(now, ['exists', now])
  },
  open(at, world) {
    const id = (of: number | string) => `w${world}-${of}`
    return {
      prepare: async () => {},
      async call(tx, { fn, of, total }) {
        const row = { order_id: id(of), total, note: null }
        if (fn === 'deleteOnce') return (await deleteOnce(tx, at('invoices'), { order_id: id(of) })).kind
        if (fn === 'upsert') return (await upsert(tx, at('invoices'), row, { unique: ['order_id'] })).kind
        const found = await insertOnce(tx, at('invoices'), row, { unique: ['order_id'] })
        return found.kind === 'exists' ? ['exists', Number(found.row.total)] : found.kind
      },
      async state(tx) {
        const totals = [0, 1].map(async (of) => {
          const [row] = await rowsOf(tx, at('invoices'), { order_id: id(of) })
          return [of, row === undefined ? 0 : Number(row.total)]
        })
        return Object.fromEntries(await Promise.all(totals))
      },
    }
  },
}

interface Order {
  readonly state: string
  readonly version: number
  readonly total: number
  readonly deleted: boolean
}
type OrderOp = { readonly of: number } & (
  | { readonly fn: 'transition' | 'move'; readonly to: 'paid' | 'shipped' }
  | { readonly fn: 'updateIf'; readonly most: number; readonly plus: number }
  | { readonly fn: 'updateVersioned'; readonly version: number }
  | { readonly fn: 'softDelete' }
)

const before = { paid: 'new', shipped: 'paid' } as const
const order: Order = { state: 'new', version: 1, total: 0, deleted: false }

/** The second one does not exist. */
const orders: Domain<Order, OrderOp> = {
  ops: fc.oneof(
    fc.record({
      fn: fc.constantFrom('transition' as const, 'move' as const),
      of: small(0, 1),
      to: fc.constantFrom('paid' as const, 'shipped' as const),
    }),
    fc.record({ fn: fc.constant('updateIf' as const), of: fc.constant(0), most: small(0, 3), plus: small(1, 2) }),
    fc.record({ fn: fc.constant('updateVersioned' as const), of: small(0, 1), version: small(1, 3) }),
    fc.record({ fn: fc.constant('softDelete' as const), of: small(0, 1) }),
  ),
  from: order,
  step(state, op) {
    if (op.of === 1) return { state, answer: ['missing'] }
    const is = (after: Partial<Order>, ...answer: unknown[]) => ({ state: { ...state, ...after }, answer })
    switch (op.fn) {
      case 'updateIf':
        return state.total <= op.most ? is({ total: state.total + op.plus }, 'updated') : is({}, 'unmet', state)
      case 'updateVersioned':
        return state.version === op.version
          ? is({ version: op.version + 1 }, 'updated', op.version + 1)
          : is({}, 'stale', state)
      case 'softDelete':
        return state.deleted ? is({}, 'already', state) : is({ deleted: true }, 'deleted')
      default:
        if (state.state === before[op.to]) return is({ state: op.to, total: state.total + 1 }, 'moved')
        return state.state === op.to ? is({}, 'already', state) : is({}, 'refused', state)
    }
  },
  open(at, world) {
    const id = (of: number) => 2_000_000 + world * 2 + of
    const read = ({ state, version, total, deleted_at }: Row): Order => ({
      state: String(state),
      version: Number(version),
      total: Number(total),
      deleted: deleted_at !== null,
    })
    const run = async (tx: unknown, op: OrderOp) => {
      const [table, where] = [at('orders'), { id: id(op.of) }]
      switch (op.fn) {
        case 'updateIf':
          return await updateIf(tx, table, where, { if: { total: atMost(op.most) }, set: { total: add(op.plus) } })
        case 'updateVersioned':
          return await updateVersioned(tx, table, where, { version: op.version, set: {} })
        case 'softDelete':
          return await softDelete(tx, table, where, { value: 'then' })
        case 'transition':
          return await transition<string>(tx, table, where, { from: before[op.to], to: op.to, set: { total: add(1) } })
        default:
          return await machine(at).move(tx, where, op.to, { total: add(1) })
      }
    }
    return {
      async prepare(tx) {
        const row = { id: id(0), state: 'new', version: 1, deleted_at: null, total: 0 }
        await insertOnce(tx, at('orders'), row, { unique: ['id'] })
      },
      async call(tx, op) {
        const answer = await run(tx, op)
        if ('row' in answer) return [answer.kind, read(answer.row)]
        return 'version' in answer ? [answer.kind, answer.version] : [answer.kind]
      },
      state: async (tx) => read((await rowsOf(tx, at('orders'), { id: id(0) }))[0] as Row),
    }
  },
}
const machine = (at: Place['table']) => stateMachine(at('orders'), { new: ['paid'], paid: ['shipped'], shipped: [] })

type Profile = { readonly name: string; readonly at: number } | null
type ProfileOp = { readonly name: string; readonly at: number; readonly ties: 'keep' | 'replace' }

const profiles: Domain<Profile, ProfileOp> = {
  ops: fc.record({
    name: fc.constantFrom('ann', 'bob', 'eve'),
    at: small(0, 4),
    ties: fc.constantFrom('keep', 'replace'),
  }),
  from: null,
  step(state, { name, at, ties }) {
    if (state === null) return { state: { name, at }, answer: ['inserted'] }
    const isNewer = ties === 'keep' ? at > state.at : at >= state.at
    return isNewer ? { state: { name, at }, answer: ['updated'] } : { state, answer: ['older', state] }
  },
  open(at, world) {
    const id = 1_000_000 + world
    const read = (row: Row): Profile => ({ name: String(row.name), at: Number(row.changed_at) })
    return {
      prepare: async () => {},
      async call(tx, op) {
        const row = { id, name: op.name, changed_at: op.at }
        const answer = await upsertLatest(tx, at('profiles'), row, { unique: ['id'], by: 'changed_at', ties: op.ties })
        return 'row' in answer ? [answer.kind, read(answer.row)] : [answer.kind]
      },
      async state(tx) {
        const [row] = await rowsOf(tx, at('profiles'), { id })
        return row === undefined ? null : read(row)
      },
    }
  },
}

const visits: Domain<readonly number[], readonly number[]> = {
  ops: fc.uniqueArray(small(0, 5), { minLength: 1, maxLength: 4 }),
  from: [],
  step(state, visitors) {
    const sorted = visitors.toSorted()
    const inserted = sorted.filter((visitor) => !state.includes(visitor))
    const existing = sorted.filter((visitor) => state.includes(visitor))
    return { state: [...state, ...inserted].toSorted(), answer: [inserted, existing] }
  },
  open(at, world) {
    const day = `m${world}`
    const numbers = (rows: readonly Row[]) => rows.map(({ visitor }) => Number(visitor)).toSorted()
    return {
      prepare: async () => {},
      async call(tx, visitors) {
        const rows = visitors.map((visitor) => ({ day, visitor, pages: 1 }))
        const { inserted, existing } = await insertManyOnce(tx, at('visits'), rows, { unique: ['day', 'visitor'] })
        return [numbers(inserted), numbers(existing)]
      },
      state: async (tx) => numbers(await rowsOf(tx, at('visits'), { day })),
    }
  },
}

type Stock = { readonly free: number; readonly held: number }
type StockOp = { readonly fn: 'reserve' | 'release' | 'take'; readonly amount: number; readonly of: number }
const moves = { reserve, release, take }

const stock: Domain<Stock, StockOp> = {
  ops: fc.record({
    fn: fc.constantFrom('reserve', 'reserve', 'release', 'take'),
    amount: small(1, 4),
    of: fc.constantFrom(0, 0, 0, 1),
  }),
  from: { free: 6, held: 2 },
  step(state, { fn, amount, of }) {
    if (of === 1) return { state, answer: ['missing'] }
    const { free, held } = state
    if ((fn === 'reserve' ? free : held) < amount) return { state, answer: ['short', state] }
    const moved = { reserve: [-amount, amount], release: [amount, -amount], take: [0, -amount] }[fn] as [number, number]
    return { state: { free: free + moved[0], held: held + moved[1] }, answer: ['moved'] }
  },
  open(at, world) {
    const item = (of: number) => `s${world}-${of}`
    const read = ({ free, held }: Row): Stock => ({ free: Number(free), held: Number(held) })
    return {
      async prepare(tx) {
        await insertOnce(tx, at('stock'), { item: item(0), free: 6, held: 2 }, { unique: ['item'] })
      },
      async call(tx, { fn, amount, of }) {
        const answer = await moves[fn](tx, at('stock'), { item: item(of) }, { amount })
        return 'row' in answer ? [answer.kind, read(answer.row)] : [answer.kind]
      },
      state: async (tx) => read((await rowsOf(tx, at('stock'), { item: item(0) }))[0] as Row),
    }
  },
}

interface Bank {
  readonly balances: readonly number[]
  /** `transfer/account`. */
  readonly entries: readonly string[]
}
type BankOp = { readonly id: string; readonly amount: number } & (
  | { readonly fn: 'applyEntry'; readonly account: number; readonly atLeast: number | null }
  | { readonly fn: 'transfer'; readonly from: number; readonly to: number }
)
type BankEnd = { readonly state: Bank; readonly answer: readonly unknown[] }

/** The third account does not exist. Ids are used for several things, as they should not be. */
const bank: Domain<Bank, BankOp> = {
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
    if (taken.answer[0] !== 'applied') return taken
    const given = entered(taken.state, op.id, op.to, op.amount, null)
    return given.answer[0] === 'applied' ? given : { state, answer: ['KEY_REUSED'] }
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
            entries.push(`${String(entry.transfer).slice(id('').length)}/${of}`)
        }
        return { balances, entries: entries.toSorted() }
      },
    }
  },
}

function entered(state: Bank, id: string, account: number, amount: number, atLeast: number | null): BankEnd {
  const entry = `${id}/${account}`
  if (state.entries.includes(entry)) return { state, answer: ['duplicate'] }
  const balance = state.balances[account]
  if (balance === undefined) return { state, answer: ['missing', account] }
  if (atLeast !== null && balance + amount < atLeast) return { state, answer: ['refused', balance] }
  const balances = state.balances.with(account, balance + amount)
  return { state: { balances, entries: [...state.entries, entry].toSorted() }, answer: ['applied'] }
}

/** What a call answers that refuses to be made. Its transaction is rolled back. */
export function refusal(error: unknown): readonly unknown[] {
  if (isJustonceError(error, 'KEY_REUSED')) return [error.code]
  throw error
}

export const domains = {
  'insertOnce, upsert and deleteOnce': invoices,
  'transition, stateMachine, updateIf, updateVersioned and softDelete': orders,
  upsertLatest: profiles,
  insertManyOnce: visits,
  'reserve, release and take': stock,
  'applyEntry and transfer': bank,
} as unknown as Readonly<Record<string, Domain<unknown, unknown>>>
