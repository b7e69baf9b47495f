import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  add,
  applyEntry,
  insertManyOnce,
  insertOnce,
  recordEntry,
  reserve,
  settleEntries,
  transfer,
  transition,
  updateIf,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { type Place, places } from './places.ts'

/** Callers at the same time; SQLite lets one write after the other. */
const callers = 4

for (const [name, { isHere, open }] of Object.entries(places)) {
  describe.skipIf(!isHere)(`patterns with copies and rivals on ${name}`, () => {
    let place: Place
    let world = 0
    beforeAll(async () => {
      place = await open()
    })
    afterAll(() => place.close())
    /** A conflict of the database is run again, as the engine does it. */
    const within = async <T>(work: (tx: unknown) => Promise<T>): Promise<T> => {
      try {
        return await place.store.transaction(work)
      } catch (error) {
        if (place.store.classify(error) !== 'conflict') throw error
        return await within(work)
      }
    }
    const at = (table: string) => place.table(table)
    const books = () => ({ ledger: at('entries'), balances: at('accounts') })
    const property = <T>(arbitrary: fc.Arbitrary<T>, check: (given: T) => Promise<void>): Promise<void> =>
      fc.assert(fc.asyncProperty(arbitrary, check), { numRuns: 12, endOnFailure: true })

    /** Several callers, each with all of the jobs in another order, every job in a transaction of its own. */
    async function byAll<Job, Answer>(
      jobs: readonly Job[],
      run: (tx: unknown, job: Job) => Promise<Answer>,
      inTransaction: typeof within = within,
    ) {
      const orders = Array.from({ length: callers }, (_, caller) => rotated(jobs, caller))
      const answers = await Promise.all(
        orders.map(async (order) => {
          const own: { job: Job; answer: Answer }[] = []
          for (const job of order) own.push({ job, answer: await inTransaction((tx) => run(tx, job)) })
          return own
        }),
      )
      return answers.flat()
    }

    async function accounts(balances: readonly number[]): Promise<readonly number[]> {
      world += 10
      const names = balances.map((_, index) => world + index)
      for (const [index, account] of names.entries())
        await within((tx) =>
          insertOnce(tx, at('accounts'), { account, balance: balances[index] }, { unique: ['account'] }),
        )
      return names
    }

    async function balanceOf(account: number): Promise<number> {
      const found = await within((tx) =>
        updateIf(tx, at('accounts'), { account }, { if: { balance: null }, set: { balance: 0 } }),
      )
      return Number(found.kind === 'unmet' ? found.row.balance : Number.NaN)
    }

    test('of all copies one is inserted', async () => {
      await property(fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { maxLength: 12 }), async (visitors) => {
        const day = `d${++world}`
        const rows = visitors.map((visitor) => ({ day, visitor, pages: 1 }))
        const chunks = [rows.slice(0, 5), rows.slice(3)]
        const answers = await byAll(chunks, (tx, some) =>
          insertManyOnce(tx, at('visits'), some, { unique: ['day', 'visitor'] }),
        )
        const inserted = answers.flatMap(({ answer }) => answer.inserted.map(({ visitor }) => visitor))
        expect(inserted.sort()).toEqual([...visitors].sort())
      })
    })

    test('a row is moved by one of its copies', async () => {
      const id = 1_000_000 + ++world
      await within((tx) =>
        insertOnce(tx, at('orders'), { id, state: 'new', version: 1, deleted_at: null, total: 0 }, { unique: ['id'] }),
      )
      const answers = await byAll(['paid', 'cancelled', 'paid'] as const, (tx, to) =>
        transition<string>(tx, at('orders'), { id }, { from: 'new', to, set: { total: add(1) } }),
      )
      const kinds = answers.map(({ answer }) => answer.kind)
      expect(kinds.filter((kind) => kind === 'moved')).toHaveLength(1)
      expect(kinds.every((kind) => kind === 'moved' || kind === 'already' || kind === 'refused')).toBe(true)
    })

    test('the newest one stays, whatever the order', async () => {
      await property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 8 }), async (times) => {
        const id = ++world
        const options = { unique: ['id'], by: 'changed_at' }
        await byAll(times, (tx, changed_at) =>
          upsertLatest(tx, at('profiles'), { id, name: `at ${changed_at}`, changed_at }, options),
        )
        const found = await within((tx) =>
          updateIf(tx, at('profiles'), { id }, { if: { name: 'none' }, set: { name: 'none' } }),
        )
        expect(found).toMatchObject({ kind: 'unmet', row: { name: `at ${Math.max(...times)}` } })
      })
    })

    test('each entry changes its balance once, and no balance falls below its limit', async () => {
      const entries = fc.array(fc.integer({ min: -6, max: 6 }), { maxLength: 10 })
      await property(entries, async (amounts) => {
        const [account] = await accounts([10])
        const jobs = amounts.map((amount, index) => ({ transfer: `e${world}-${index}`, amount }))
        const answers = await byAll(jobs, (tx, job) => applyEntry(tx, books(), { ...job, account }))
        const applied = answers.filter(({ answer }) => answer.kind === 'applied').map(({ job }) => job)
        expect(new Set(applied).size).toBe(applied.length)
        const balance = await balanceOf(account as number)
        expect(balance).toBe(10 + applied.reduce((sum, { amount }) => sum + amount, 0))
        expect(balance).toBeGreaterThanOrEqual(0)
      })
    })

    test('transfers in all directions neither make nor lose money, and do not end in a deadlock', async () => {
      const one = fc.record({
        from: fc.integer({ min: 0, max: 2 }),
        step: fc.integer({ min: 1, max: 2 }),
        amount: fc.integer({ min: 1, max: 9 }),
      })
      await property(fc.array(one, { maxLength: 10 }), async (wanted) => {
        const names = await accounts([10, 10, 10])
        const jobs = wanted.map(({ from, step, amount }, index) => ({
          ...{ transfer: `t${world}-${index}`, amount },
          from: names[from],
          to: names[(from + step) % 3],
        }))
        // Without a second try: two directions must not meet in a deadlock.
        const strictly = <T>(work: (tx: unknown) => Promise<T>) => place.store.transaction(work)
        const answers = await byAll(jobs, (tx, job) => transfer(tx, books(), job), strictly)
        const applied = answers.filter(({ answer }) => answer.kind === 'applied').map(({ job }) => job)
        expect(new Set(applied).size).toBe(applied.length)
        const expected = new Map(names.map((account) => [account, 10]))
        for (const { from, to, amount } of applied) {
          expected.set(from as number, (expected.get(from as number) as number) - amount)
          expected.set(to as number, (expected.get(to as number) as number) + amount)
        }
        for (const [account, balance] of expected) expect(await balanceOf(account)).toBe(balance)
      })
    })

    test('balances that are brought up to date later have every entry once', async () => {
      const [a, b] = await accounts([0, 5])
      const jobs = Array.from({ length: 30 }, (_, index) => ({
        ...{ transfer: `s${world}-${index}`, amount: index, account: index % 2 === 0 ? a : b },
      }))
      await byAll(jobs, (tx, job) => recordEntry(tx, books(), job))
      await byAll([7, 7, 7], async (tx, limit) => await settleEntries(tx, books(), { limit }))
      while ((await within((tx) => settleEntries(tx, books()))) > 0);
      expect([await balanceOf(a as number), await balanceOf(b as number)]).toEqual([210, 230])
    })

    test('stock is set aside once for each that gets it', async () => {
      const item = `i${++world}`
      await within((tx) => insertOnce(tx, at('stock'), { item, free: 5, held: 0 }, { unique: ['item'] }))
      const answers = await byAll([1, 2, 3], (tx, amount) => reserve(tx, at('stock'), { item }, { amount }))
      const held = answers.reduce((sum, { job, answer }) => sum + (answer.kind === 'moved' ? job : 0), 0)
      const found = await within((tx) => reserve(tx, at('stock'), { item }, { amount: 100 }))
      expect(found).toMatchObject({ kind: 'short', row: { free: 5 - held, held } })
    })
  })
}

test('amounts that are texts stay exact on databases with decimals', async () => {
  for (const name of ['pg', 'postgres.js', 'mysql2'] as const) {
    const { isHere, open } = places[name] as (typeof places)[string]
    if (!isHere) continue
    const place = await open()
    const books = { ledger: place.table('entries'), balances: place.table('accounts') }
    try {
      const answers = await place.store.transaction(async (tx) => {
        const row = { account: 1, balance: '900719925474099312345678.0001' }
        await insertOnce(tx, place.table('accounts'), row, { unique: ['account'] })
        await applyEntry(tx, books, { transfer: 'a', account: 1, amount: '0.0002' })
        return await applyEntry(tx, books, { transfer: 'b', account: 1, amount: '-900719925474099312345678.0004' })
      })
      expect({ name, ...answers }).toEqual({ name, kind: 'refused', balance: '900719925474099312345678.0003' })
    } finally {
      await place.close()
    }
  }
})

function rotated<T>(list: readonly T[], by: number): readonly T[] {
  const start = list.length === 0 ? 0 : (by * 3) % list.length
  return [...list.slice(start), ...list.slice(0, start)]
}
