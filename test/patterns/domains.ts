import fc from 'fast-check'
import { isJustonceError } from '../../src/index.ts'
import {
  add,
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
  transition,
  updateIf,
  updateVersioned,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { type Domain, rowsOf, small } from './domain.ts'
import { bank, later } from './domains-of-books.ts'
import type { Place } from './places.ts'

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
  'recordEntry and settleEntries': later,
} as unknown as Readonly<Record<string, Domain<unknown, unknown>>>
