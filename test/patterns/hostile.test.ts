import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  add,
  applyEntry,
  atLeast,
  deleteOnce,
  insertManyOnce,
  insertOnce,
  not,
  recordEntry,
  settleEntries,
  transfer,
  updateIf,
  updateVersioned,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { type Place, places } from './places.ts'

for (const [name, { isHere, open }] of Object.entries(places)) {
  describe.skipIf(!isHere)(`patterns and hostile callers on ${name}`, () => {
    let place: Place
    const within = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => place.store.transaction(work)
    const at = (table: string) => place.table(table)
    const books = () => ({ ledger: at('entries'), balances: at('accounts') })
    const open_ = (account: unknown, balance: unknown) =>
      within((tx) => insertOnce(tx, at('accounts'), { account, balance }, { unique: ['account'] }))
    const read = (table: string, where: Record<string, unknown>) =>
      within(async (tx) => {
        const column = Object.keys(where)[0] as string
        const found = await updateIf(tx, at(table), where, { if: { [column]: null }, set: { [column]: null } })
        return found.kind === 'unmet' ? found.row : undefined
      })
    beforeAll(async () => {
      place = await open()
    })
    afterAll(() => place.close())

    test('amounts that are no exact numbers are refused before they reach a balance', async () => {
      await open_(1, 10)
      for (const amount of [Number.NaN, Number.POSITIVE_INFINITY, 'NaN', 'Infinity', '1e5', '', ' 1', 0.1, 2 ** 60]) {
        const apply = within((tx) => applyEntry(tx, books(), { transfer: 'poison', account: 1, amount }))
        await expect(apply, String(amount)).rejects.toMatchObject({ code: 'OPTION_INVALID' })
      }
      expect(Number((await read('accounts', { account: 1 }))?.balance)).toBe(10)
    })

    test('a transfer to the same account in another spelling is refused', async () => {
      await open_(7, 10)
      const same = within((tx) => transfer(tx, books(), { transfer: 'same', from: 7, to: '7', amount: 3 }))
      await expect(same).rejects.toMatchObject({ code: 'OPTION_INVALID' })
      expect(Number((await read('accounts', { account: 7 }))?.balance)).toBe(10)
    })

    test('a transfer under an id that another transfer has takes nothing', async () => {
      for (const account of [21, 22, 23]) await open_(account, 10)
      const one = { transfer: 'r1', from: 21, to: 22, amount: 3 }
      expect((await within((tx) => transfer(tx, books(), one))).kind).toBe('applied')
      const others = [
        { ...one, from: 23 },
        { ...one, to: 23 },
        { ...one, amount: 4 },
        { ...one, from: 22, to: 21 },
      ]
      for (const other of others)
        await expect(within((tx) => transfer(tx, books(), other))).rejects.toMatchObject({ code: 'KEY_REUSED' })
      expect((await within((tx) => transfer(tx, books(), { ...one, amount: '3' }))).kind).toBe('duplicate')
      const balances = []
      for (const account of [21, 22, 23]) balances.push(Number((await read('accounts', { account }))?.balance))
      expect(balances).toEqual([7, 13, 10])
    })

    test('an entry under an id that another entry has is refused, and a copy gets the entry', async () => {
      await open_(24, 10)
      await open_(25, 10)
      const one = { transfer: 'e1', account: 24, amount: -3 }
      expect((await within((tx) => applyEntry(tx, books(), one))).kind).toBe('applied')
      const copy = await within((tx) => applyEntry(tx, books(), one))
      expect(copy).toMatchObject({ kind: 'duplicate', row: { transfer: 'e1', account: 24 } })
      expect(Number(copy.kind === 'duplicate' && copy.row.amount)).toBe(-3)
      const larger = { ...one, amount: -4 }
      await expect(within((tx) => applyEntry(tx, books(), larger))).rejects.toMatchObject({ code: 'KEY_REUSED' })
      expect(Number((await read('accounts', { account: 24 }))?.balance)).toBe(7)
      const later = { ...one, account: 25 }
      expect((await within((tx) => recordEntry(tx, books(), later))).kind).toBe('recorded')
      expect(await within((tx) => recordEntry(tx, books(), later))).toMatchObject({
        ...{ kind: 'duplicate', row: { transfer: 'e1', account: 25 } },
      })
      const other = within((tx) => recordEntry(tx, books(), { ...later, amount: 3 }))
      await expect(other).rejects.toMatchObject({ code: 'KEY_REUSED' })
    })

    test('conditions and changes without a column are refused, and the transaction goes on', async () => {
      await within(async (tx) => {
        const empty = updateIf(tx, at('accounts'), { account: 1 }, { if: {}, set: { balance: 1 } })
        await expect(empty).rejects.toMatchObject({ code: 'OPTION_INVALID' })
        const unchanged = updateIf(tx, at('accounts'), { account: 1 }, { if: { balance: 1 }, set: {} })
        await expect(unchanged).rejects.toMatchObject({ code: 'OPTION_INVALID' })
        const nothing = insertOnce(tx, at('accounts'), {}, { unique: ['account'] })
        await expect(nothing).rejects.toMatchObject({ code: 'OPTION_INVALID' })
        expect(await deleteOnce(tx, at('accounts'), { account: 999 })).toEqual({ kind: 'missing' })
      })
    })

    test('not() is also true of a column without a value', async () => {
      await place.exec('CREATE TABLE {}flags (id int PRIMARY KEY, state varchar(10))')
      await within((tx) => insertOnce(tx, at('flags'), { id: 1, state: null }, { unique: ['id'] }))
      const set = (tx: unknown) =>
        updateIf(tx, at('flags'), { id: 1 }, { if: { state: not('x') }, set: { state: 'x' } })
      expect(await within(set)).toEqual({ kind: 'updated' })
      expect((await within(set)).kind).toBe('unmet')
    })

    test('the newest one needs a time', async () => {
      for (const row of [
        { id: 1, name: 'a' },
        { id: 1, name: 'a', changed_at: null },
        { id: 1, name: 'a', changed_at: Number.NaN },
      ]) {
        const write = within((tx) => upsertLatest(tx, at('profiles'), row, { unique: ['id'], by: 'changed_at' }))
        await expect(write).rejects.toMatchObject({ code: 'OPTION_INVALID' })
      }
      const invalid = within((tx) =>
        upsertLatest(
          tx,
          at('profiles'),
          { id: 1, name: 'a', changed_at: new Date('x') },
          { unique: ['id'], by: 'changed_at' },
        ),
      )
      await expect(invalid).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    })

    test('a version may be a large number, as bigint or as text', async () => {
      await place.exec('CREATE TABLE {}versioned (id int PRIMARY KEY, version bigint, name varchar(10))')
      await within((tx) =>
        insertOnce(tx, at('versioned'), { id: 1, version: 9_007_199_254_740_993n, name: 'a' }, { unique: ['id'] }),
      )
      const save = (version: number | bigint | string) =>
        within((tx) => updateVersioned(tx, at('versioned'), { id: 1 }, { version, set: { name: 'b' } }))
      expect(await save('9007199254740993')).toEqual({ kind: 'updated', version: '9007199254740994' })
      expect(await save(9_007_199_254_740_994n)).toEqual({ kind: 'updated', version: 9_007_199_254_740_995n })
      expect((await save(9_007_199_254_740_994n)).kind).toBe('stale')
    })

    test('objects, arrays, bytes and texts with anything in them come back as they went', async () => {
      const json = place.dialect === 'postgres' ? 'jsonb' : 'text'
      const bytes = place.dialect === 'postgres' ? 'bytea' : 'blob'
      await place.exec(
        `CREATE TABLE {}things (id int PRIMARY KEY, about ${json}, raw ${bytes}, words varchar(200)${place.dialect === 'mysql' ? ' CHARACTER SET utf8mb4' : ''})`,
      )
      const about = { list: [1, 'two'], "quote'": '\\' }
      const words = 'it\'s "quoted" \\ back\nline\ttab ? $1 :name ; -- 字'
      const raw = new Uint8Array([0, 39, 92, 255])
      await within((tx) => insertOnce(tx, at('things'), { id: 1, about, raw, words }, { unique: ['id'] }))
      const row = await read('things', { id: 1 })
      expect(place.dialect === 'postgres' ? row?.about : JSON.parse(row?.about as string)).toEqual(about)
      expect(Array.from((row?.raw ?? []) as Uint8Array)).toEqual([...raw])
      expect(row?.words).toBe(words)
      const found = await within((tx) => deleteOnce(tx, at('things'), { words, raw }))
      expect(found).toEqual({ kind: 'deleted' })
    })

    test('names with quotes, spaces and keywords in them are names', async () => {
      const quote = place.dialect === 'mysql' ? '`' : '"'
      const spelt = (each: string) => quote + each.replaceAll(quote, quote + quote) + quote
      const [table, key, value] = ['order "by` $1', 'select', '字 "a`b']
      await place.exec(`CREATE TABLE {}${spelt(table)} (${spelt(key)} int PRIMARY KEY, ${spelt(value)} int)`)
      const row = { [key]: 1, [value]: 2 }
      const options = { unique: [key] }
      expect((await within((tx) => insertOnce(tx, at(table), row, options))).kind).toBe('inserted')
      expect((await within((tx) => upsert(tx, at(table), row, options))).kind).toBe('updated')
      expect((await within((tx) => insertManyOnce(tx, at(table), [row], options))).existing).toHaveLength(1)
      expect(await within((tx) => upsertLatest(tx, at(table), row, { ...options, by: value }))).toEqual({
        kind: 'older',
        row,
      })
    })

    test('tables are called as the parts of our statements are', async () => {
      await place.exec(`
        CREATE TABLE {}entry (transfer varchar(40), account int, amount int, settled int, PRIMARY KEY (transfer, account));
        CREATE TABLE {}balance (account int PRIMARY KEY, balance int)`)
      const own = { ledger: at('entry'), balances: at('balance') }
      await within((tx) => insertOnce(tx, at('balance'), { account: 1, balance: 5 }, { unique: ['account'] }))
      const take = () => within((tx) => applyEntry(tx, own, { transfer: 'a', account: 1, amount: -4 }))
      expect([(await take()).kind, (await take()).kind]).toEqual(['applied', 'duplicate'])
      expect((await within((tx) => applyEntry(tx, own, { transfer: 'b', account: 1, amount: -4 }))).kind).toBe(
        'refused',
      )
    })

    test('a key that the database stores in another form is not inserted twice, and the error says so', async () => {
      await place.exec('CREATE TABLE {}trimmed (id numeric(6, 1) PRIMARY KEY, note varchar(10))')
      if (place.dialect === 'sqlite') return
      const insert = () => within((tx) => insertOnce(tx, at('trimmed'), { id: '1.26', note: 'a' }, { unique: ['id'] }))
      expect((await insert()).kind).toBe('inserted')
      await expect(insert()).rejects.toThrow(place.dialect === 'mysql' ? 'Duplicate entry' : 'stores')
      const write = within((tx) => upsert(tx, at('trimmed'), { id: '1.26', note: 'b' }, { unique: ['id'] }))
      await expect(write).rejects.toThrow(place.dialect === 'mysql' ? 'Duplicate entry' : 'stores')
    })

    test('keys that the database calls equal are one key', async () => {
      if (place.dialect === 'mysql')
        await place.exec('CREATE TABLE {}users (name varchar(20) COLLATE utf8mb4_general_ci PRIMARY KEY, n int)')
      else if (place.dialect === 'sqlite')
        await place.exec('CREATE TABLE {}users (name text COLLATE NOCASE PRIMARY KEY, n int)')
      else
        await place.exec(`CREATE COLLATION IF NOT EXISTS {}ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE {}users (name text COLLATE {}ci PRIMARY KEY, n int)`)
      const unique = ['name']
      await within((tx) => insertOnce(tx, at('users'), { name: 'Ann', n: 1 }, { unique }))
      expect(await within((tx) => insertOnce(tx, at('users'), { name: 'ANN', n: 2 }, { unique }))).toMatchObject({
        kind: 'exists',
        row: { name: 'Ann' },
      })
      const rows = ['ann', 'bob', 'BOB', 'cy'].map((name) => ({ name, n: 3 }))
      const { inserted, existing } = await within((tx) => insertManyOnce(tx, at('users'), rows, { unique }))
      expect([inserted.length, existing.length]).toEqual([2, 2])
      expect((await within((tx) => upsert(tx, at('users'), { name: 'CY', n: 4 }, { unique }))).kind).toBe('updated')
    })

    test('entries whose balance is changed at once are not settled again', async () => {
      await place.exec(`
        CREATE TABLE {}both_entries (transfer varchar(40), account int, amount int, settled boolean DEFAULT true, PRIMARY KEY (transfer, account));
        CREATE TABLE {}both_balances (account int PRIMARY KEY, balance int)`)
      const own = { ledger: at('both_entries'), balances: at('both_balances') }
      await within((tx) => insertOnce(tx, own.balances, { account: 1, balance: 0 }, { unique: ['account'] }))
      await within((tx) => applyEntry(tx, own, { transfer: 'now', account: 1, amount: 5 }))
      await within((tx) => recordEntry(tx, own, { transfer: 'later', account: 1, amount: 7 }))
      expect(await within((tx) => settleEntries(tx, own))).toBe(1)
      expect((await read('both_balances', { account: 1 }))?.balance).toBe(12)
    })
  })
}

const mariadb = places.mysql2 as (typeof places)[string]
describe.skipIf(!mariadb.isHere)('patterns on a MySQL that is set up in another way', () => {
  let place: Place
  const within = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => place.store.transaction(work)
  beforeAll(async () => {
    place = await mariadb.open({
      flags: ['-FOUND_ROWS'],
      session: "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE,STRICT_ALL_TABLES'",
    })
  })
  afterAll(() => place.close())

  test('a row that is found and stays as it is counts as changed', async () => {
    const books = { ledger: 'entries', balances: 'accounts' }
    await within((tx) => insertOnce(tx, 'accounts', { account: 1, balance: 5 }, { unique: ['account'] }))
    expect((await within((tx) => applyEntry(tx, books, { transfer: 'zero', account: 1, amount: 0 }))).kind).toBe(
      'applied',
    )
    const same = await within((tx) =>
      updateIf(tx, 'accounts', { account: 1 }, { if: { balance: 5 }, set: { balance: 5 } }),
    )
    expect(same.kind).toBe('updated')
  })

  test('not() is about the whole comparison where NOT binds more strongly than it', async () => {
    await within((tx) => insertOnce(tx, 'orders', { id: 9, state: 'new' }, { unique: ['id'] }))
    const to = (state: string) =>
      within((tx) => updateIf(tx, 'orders', { id: 9 }, { if: { state: not(state) }, set: { state } }))
    expect([(await to('paid')).kind, (await to('paid')).kind]).toEqual(['updated', 'unmet'])
  })

  test('values stay values where a backslash is a letter', async () => {
    const evil = "\\' OR 1=1 -- "
    const insert = (order_id: string) =>
      within((tx) => insertOnce(tx, 'invoices', { order_id, total: 1, note: null }, { unique: ['order_id'] }))
    await insert('safe')
    expect(await within((tx) => deleteOnce(tx, 'invoices', { order_id: evil }))).toEqual({ kind: 'missing' })
    expect((await insert(evil)).kind).toBe('inserted')
    expect(await insert(evil)).toMatchObject({ kind: 'exists', row: { order_id: evil } })
  })

  test('decimals are compared exactly', async () => {
    await within((tx) =>
      insertOnce(tx, 'accounts', { account: 2, balance: '900719925474099312345678.0001' }, { unique: ['account'] }),
    )
    const take = (least: string) =>
      within((tx) =>
        updateIf(tx, 'accounts', { account: 2 }, { if: { balance: atLeast(least) }, set: { balance: add('0') } }),
      )
    expect((await take('900719925474099312345678.0001')).kind).toBe('updated')
    expect((await take('900719925474099312345678.0002')).kind).toBe('unmet')
  })
})

const pg = places.pg as (typeof places)[string]
describe.skipIf(!pg.isHere)('patterns on tables of Postgres that are no plain ones', () => {
  let place: Place
  const within = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => place.store.transaction(work)
  beforeAll(async () => {
    place = await pg.open()
  })
  afterAll(() => place.close())

  test('partitions, generated columns and triggers', async () => {
    await place.exec(`
      CREATE TABLE {}parts (id int, at int, double int GENERATED ALWAYS AS (at * 2) STORED, seen int DEFAULT 0, PRIMARY KEY (id)) PARTITION BY RANGE (id);
      CREATE TABLE {}parts_low PARTITION OF {}parts FOR VALUES FROM (0) TO (100);
      CREATE FUNCTION {}count_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.seen := NEW.seen + 1; RETURN NEW; END';
      CREATE TRIGGER counts BEFORE INSERT OR UPDATE ON {}parts FOR EACH ROW EXECUTE FUNCTION {}count_up()`)
    const table = place.table('parts')
    const options = { unique: ['id'] }
    expect((await within((tx) => upsert(tx, table, { id: 1, at: 1 }, options))).kind).toBe('inserted')
    expect((await within((tx) => upsert(tx, table, { id: 1, at: 2 }, options))).kind).toBe('updated')
    const latest = (at: number) => within((tx) => upsertLatest(tx, table, { id: 1, at }, { ...options, by: 'at' }))
    expect((await latest(3)).kind).toBe('updated')
    expect(await latest(2)).toMatchObject({ kind: 'older', row: { at: 3, double: 6 } })
    expect(await within((tx) => insertOnce(tx, table, { id: 1, at: 9 }, options))).toMatchObject({ kind: 'exists' })
  })
})
