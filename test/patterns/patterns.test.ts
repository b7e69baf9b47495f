import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  add,
  atLeast,
  deleteOnce,
  insertManyOnce,
  insertOnce,
  not,
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
import { type Place, places } from './places.ts'

for (const [name, { isHere, open }] of Object.entries(places)) {
  describe.skipIf(!isHere)(`patterns on ${name}`, () => {
    let place: Place
    const within = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => place.store.transaction(work)
    const at = (table: string) => place.table(table)
    beforeAll(async () => {
      place = await open()
    })
    afterAll(() => place.close())
    beforeEach(async () => {
      for (const table of ['invoices', 'visits', 'orders', 'profiles', 'stock'])
        await within((tx) => deleteAll(tx, at(table)))
    })

    test('insertOnce inserts a row once, and gives a duplicate the row that is there', async () => {
      const row = { order_id: "o'1", total: 12, note: null }
      expect(await within((tx) => insertOnce(tx, at('invoices'), row, { unique: ['order_id'] }))).toEqual({
        kind: 'inserted',
      })
      const again = await within((tx) =>
        insertOnce(tx, at('invoices'), { ...row, total: 13 }, { unique: ['order_id'] }),
      )
      expect(again).toMatchObject({ kind: 'exists', row: { order_id: "o'1" } })
      expect(Number(again.kind === 'exists' && again.row.total)).toBe(12)
    })

    test('insertOnce leaves the transaction usable after a duplicate', async () => {
      const insert = (tx: unknown, id: string) =>
        insertOnce(tx, at('invoices'), { order_id: id, total: 1, note: null }, { unique: ['order_id'] })
      await within((tx) => insert(tx, 'a'))
      const kinds = await within(async (tx) => [(await insert(tx, 'a')).kind, (await insert(tx, 'b')).kind])
      expect(kinds).toEqual(['exists', 'inserted'])
    })

    test('insertOnce does not take another unique column for a duplicate', async () => {
      const row = { order_id: 'a', total: 1, note: 'same' }
      await within((tx) => insertOnce(tx, at('invoices'), row, { unique: ['order_id'] }))
      const other = within((tx) => insertOnce(tx, at('invoices'), { ...row, order_id: 'b' }, { unique: ['order_id'] }))
      await expect(other).rejects.toThrow()
    })

    test('insertManyOnce says which rows were new', async () => {
      const visit = (visitor: number) => ({ day: 'monday', visitor, pages: 1 })
      const unique = ['day', 'visitor']
      await within((tx) => insertManyOnce(tx, at('visits'), [visit(2), visit(4)], { unique }))
      const second = await within((tx) =>
        insertManyOnce(tx, at('visits'), [visit(4), visit(3), visit(1), visit(3)], { unique }),
      )
      expect(second.inserted.map(({ visitor }) => visitor).sort()).toEqual([1, 3])
      expect(second.existing.map(({ visitor }) => visitor).sort()).toEqual([3, 4])
      expect(await within((tx) => insertManyOnce(tx, at('visits'), [], { unique }))).toEqual({
        inserted: [],
        existing: [],
      })
    })

    test('insertManyOnce takes more rows than fit into one statement', async () => {
      const rows = Array.from({ length: 450 }, (_, visitor) => ({ day: 'tuesday', visitor, pages: visitor }))
      const { inserted } = await within((tx) => insertManyOnce(tx, at('visits'), rows, { unique: ['day', 'visitor'] }))
      expect(inserted).toHaveLength(450)
    })

    test('upsert inserts a row or changes it', async () => {
      const write = (name: string) =>
        within((tx) => upsert(tx, at('profiles'), { id: 1, name, changed_at: 1 }, { unique: ['id'] }))
      expect([await write('a'), await write('b')]).toEqual([{ kind: 'inserted' }, { kind: 'updated' }])
      const read = await within((tx) =>
        updateIf(tx, at('profiles'), { id: 1 }, { if: { name: 'x' }, set: { name: 'y' } }),
      )
      expect(read).toMatchObject({ kind: 'unmet', row: { name: 'b' } })
    })

    test('upsertLatest keeps the newer one, in whichever order they arrive', async () => {
      const write = (changed_at: number, name: string, ties?: 'keep' | 'replace') =>
        within((tx) =>
          upsertLatest(
            tx,
            at('profiles'),
            { id: 7, name, changed_at },
            { unique: ['id'], by: 'changed_at', ...(ties && { ties }) },
          ),
        )
      expect((await write(5, 'five')).kind).toBe('inserted')
      expect(await write(3, 'three')).toMatchObject({ kind: 'older', row: { name: 'five' } })
      expect((await write(5, 'a copy')).kind).toBe('older')
      expect((await write(5, 'replaced', 'replace')).kind).toBe('updated')
      expect((await write(9, 'nine')).kind).toBe('updated')
      expect(await write(8, 'eight')).toMatchObject({ kind: 'older', row: { name: 'nine' } })
    })

    test('transition moves a row only from an allowed state', async () => {
      await addOrder(place, { id: 1, state: 'new' })
      const pay = (tx: unknown, id = 1) =>
        transition(tx, at('orders'), { id }, { from: ['new', 'waiting'], to: 'paid', set: { total: add(5) } })
      expect(await within((tx) => pay(tx))).toEqual({ kind: 'moved' })
      expect(await within((tx) => pay(tx))).toMatchObject({ kind: 'already', row: { total: 5 } })
      expect(await within((tx) => pay(tx, 2))).toEqual({ kind: 'missing' })
      await within((tx) => transition(tx, at('orders'), { id: 1 }, { from: 'paid', to: 'shipped' }))
      expect(await within((tx) => pay(tx))).toMatchObject({ kind: 'refused', current: 'shipped' })
    })

    test('a state machine allows what it names', async () => {
      const orders = stateMachine(at('orders'), { new: ['paid'], paid: ['shipped'], shipped: [] })
      await addOrder(place, { id: 3, state: 'new' })
      expect(orders.from('paid')).toEqual(['new'])
      expect((await within((tx) => orders.move(tx, { id: 3 }, 'shipped'))).kind).toBe('refused')
      expect((await within((tx) => orders.move(tx, { id: 3 }, 'paid'))).kind).toBe('moved')
      expect((await within((tx) => orders.move(tx, { id: 3 }, 'shipped'))).kind).toBe('moved')
    })

    test('a state machine says that no state leads to what it is given', async () => {
      const orders = stateMachine(at('orders'), { new: ['paid'], paid: [] })
      const move = (to: string) => within((tx) => orders.move(tx, { id: 1 }, to as never))
      for (const to of ['new', 'piad', '__proto__']) await expect(move(to)).rejects.toThrow(`No state leads to ${to}`)
    })

    test('updateVersioned refuses a change of what somebody else has changed since', async () => {
      await addOrder(place, { id: 4, state: 'new' })
      const save = (version: number) =>
        within((tx) => updateVersioned(tx, at('orders'), { id: 4 }, { version, set: { total: 9 } }))
      expect(await save(1)).toEqual({ kind: 'updated', version: 2 })
      expect(await save(1)).toMatchObject({ kind: 'stale', row: { version: 2 } })
    })

    test('softDelete keeps the first mark, deleteOnce says that it is gone', async () => {
      await addOrder(place, { id: 5, state: 'new' })
      const mark = (value: string) => within((tx) => softDelete(tx, at('orders'), { id: 5 }, { value }))
      expect(await mark('first')).toEqual({ kind: 'deleted' })
      expect(await mark('second')).toMatchObject({ kind: 'already', row: { deleted_at: 'first' } })
      const remove = () => within((tx) => deleteOnce(tx, at('orders'), { id: 5 }))
      expect([await remove(), await remove()]).toEqual([{ kind: 'deleted' }, { kind: 'missing' }])
    })

    test('stock never becomes negative', async () => {
      await within((tx) => insertOnce(tx, at('stock'), { item: 'pen', free: 3, held: 0 }, { unique: ['item'] }))
      const where = { item: 'pen' }
      expect((await within((tx) => reserve(tx, at('stock'), where, { amount: 2 }))).kind).toBe('moved')
      expect(await within((tx) => reserve(tx, at('stock'), where, { amount: 2 }))).toMatchObject({
        kind: 'short',
        row: { free: 1, held: 2 },
      })
      expect((await within((tx) => release(tx, at('stock'), where, { amount: 1 }))).kind).toBe('moved')
      expect((await within((tx) => take(tx, at('stock'), where, { amount: 1 }))).kind).toBe('moved')
      expect((await within((tx) => take(tx, at('stock'), where, { amount: 1 }))).kind).toBe('short')
    })

    test('amounts of stock are exact, and above 0', async () => {
      const stock = at('stock')
      await within((tx) => insertOnce(tx, stock, { item: 'pen', free: 3, held: 0 }, { unique: ['item'] }))
      const move = (amount: number | bigint | string) => within((tx) => reserve(tx, stock, { item: 'pen' }, { amount }))
      for (const amount of [-1, 0, 0n, '-1', '0.0', 0.1, Number.NaN, 'NaN', 'two'])
        await expect(move(amount), String(amount)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
      expect([(await move('2')).kind, (await move(1n)).kind, (await move('1')).kind]).toEqual([
        'moved',
        'moved',
        'short',
      ])
      expect((await within((tx) => take(tx, stock, { item: 'pen' }, { amount: '3' }))).kind).toBe('moved')
    })

    test('names and values cannot become a part of the statement', async () => {
      await addOrder(place, { id: 6, state: 'new' })
      const evil = `x" = 1; DROP TABLE orders; --`
      await expect(
        within((tx) => updateIf(tx, at('orders'), { id: 6 }, { if: { [evil]: 1 }, set: { total: 1 } })),
      ).rejects.toThrow()
      await expect(within((tx) => insertOnce(tx, 'orders"; --', { id: 1 }, { unique: ['id'] }))).rejects.toThrow()
      const value = `'); DROP TABLE orders; --`
      await within((tx) =>
        updateIf(tx, at('orders'), { id: 6 }, { if: { version: atLeast(0) }, set: { state: value } }),
      )
      expect(await within((tx) => transition(tx, at('orders'), { id: 6 }, { from: 'new', to: 'paid' }))).toMatchObject({
        kind: 'refused',
        current: value,
      })
    })

    test('large whole numbers stay exact', async () => {
      const id = 9_007_199_254_740_993n
      await addOrder(place, { id, state: 'new' })
      const found = await within((tx) => updateIf(tx, at('orders'), { id }, { if: { state: 'x' }, set: { total: 1 } }))
      expect(String(found.kind === 'unmet' && found.row.id)).toBe(String(id))
      expect(await within((tx) => deleteOnce(tx, at('orders'), { id: id - 1n }))).toEqual({ kind: 'missing' })
    })
  })
}

test('a condition without a column, a key without a value and a tx that is none are refused', async () => {
  const place = await (places['node:sqlite'] as (typeof places)[string]).open()
  try {
    const within = place.store.transaction.bind(place.store)
    await expect(within((tx) => deleteOnce(tx, 'orders', {}))).rejects.toThrow('would match every row')
    await expect(within((tx) => insertOnce(tx, 'orders', { id: null }, { unique: ['id'] }))).rejects.toThrow('no value')
    await expect(deleteOnce({}, 'orders', { id: 1 })).rejects.toThrow('must be the tx of a handler')
    await expect(within((tx) => deleteOnce(tx, 'a?b', { id: 1 }))).rejects.toThrow('cannot be the name')
  } finally {
    await place.close()
  }
})

async function addOrder(place: Place, { id, state }: { id: number | bigint; state: string }): Promise<void> {
  const row = { id, state, version: 1, deleted_at: null, total: 0 }
  await place.store.transaction((tx) => insertOnce(tx, place.table('orders'), row, { unique: ['id'] }))
}

async function deleteAll(tx: unknown, table: Parameters<typeof deleteOnce>[1]): Promise<void> {
  const column = String(table).endsWith('invoices')
    ? 'order_id'
    : String(table).endsWith('visits')
      ? 'day'
      : String(table).endsWith('stock')
        ? 'item'
        : 'id'
  await deleteOnce(tx, table, { [column]: not(null) })
}
