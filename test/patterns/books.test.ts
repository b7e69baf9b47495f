import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  applyEntry,
  insertManyOnce,
  insertOnce,
  type Row,
  recordEntry,
  settleEntries,
  transfer,
  updateIf,
  upsert,
  upsertLatest,
} from '../../src/patterns/index.ts'
import { sql } from '../../src/patterns/sql/fragment.ts'
import { runnerOf } from '../../src/patterns/sql/runner.ts'
import { type Place, places } from './places.ts'

for (const [name, { isHere, open }] of Object.entries(places)) {
  describe.skipIf(!isHere)(`books that are kept in odd ways on ${name}`, () => {
    let place: Place
    const within = <T>(work: (tx: unknown) => Promise<T>): Promise<T> => place.store.transaction(work)
    const at = (table: string) => place.table(table)
    const books = () => ({ ledger: at('entries'), balances: at('accounts') })
    const put = (table: string, row: Row, unique: string) =>
      within((tx) => insertOnce(tx, at(table), row, { unique: [unique] }))
    const read = (table: string, where: Row) =>
      within(async (tx) => {
        const column = Object.keys(where)[0] as string
        const found = await updateIf(tx, at(table), where, { if: { [column]: null }, set: { [column]: null } })
        return found.kind === 'unmet' ? found.row : undefined
      })
    const somebodyWaits = async (): Promise<void> => {
      const look =
        place.dialect === 'postgres'
          ? sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%justonce_entry%'`
          : sql`SELECT 1 AS waits FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT' AND trx_query LIKE '%entries%'`
      while ((await within((tx) => runnerOf(tx).rows(look))).length === 0);
    }
    beforeAll(async () => {
      place = await open()
    })
    afterAll(() => place.close())

    test('an entry with more digits than the ledger keeps changes its balance by what the ledger says', async () => {
      const decimal = place.dialect === 'sqlite' ? 'integer' : 'decimal(10, 2)'
      await place.exec(`
        CREATE TABLE {}cents (transfer varchar(40), account int, amount ${decimal}, PRIMARY KEY (transfer, account));
        CREATE TABLE {}purses (account int PRIMARY KEY, balance ${decimal})`)
      if (place.dialect === 'sqlite') return
      await put('purses', { account: 1, balance: '10.00' }, 'account')
      const own = { ledger: at('cents'), balances: at('purses') }
      const pay = (id: string) => within((tx) => applyEntry(tx, own, { transfer: id, account: 1, amount: '-0.005' }))
      expect([(await pay('a')).kind, (await pay('b')).kind]).toEqual(['applied', 'applied'])
      expect((await pay('a')).kind).toBe('duplicate')
      expect(Number((await read('cents', { transfer: 'a' }))?.amount)).toBe(-0.01)
      expect(Number((await read('purses', { account: 1 }))?.balance)).toBe(9.98)
    })

    test('no balance falls below its limit, whatever a column or a trigger makes of the amount', async () => {
      const decimal = (digits: number) => (place.dialect === 'sqlite' ? 'numeric' : `decimal(10, ${digits})`)
      await place.exec(`
        CREATE TABLE {}coarse (transfer varchar(40), account int, amount ${decimal(2)}, PRIMARY KEY (transfer, account));
        CREATE TABLE {}fine (account int PRIMARY KEY, balance ${decimal(3)})`)
      if (place.dialect === 'postgres')
        await place.exec(`
          CREATE FUNCTION {}coarsen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.amount := NEW.amount * 2; RETURN NEW; END';
          CREATE TRIGGER coarsens BEFORE INSERT ON {}coarse FOR EACH ROW EXECUTE FUNCTION {}coarsen()`)
      else if (place.dialect === 'mysql')
        await place.exec('CREATE TRIGGER coarsens BEFORE INSERT ON coarse FOR EACH ROW SET NEW.amount = NEW.amount * 2')
      else
        await place.exec(
          'CREATE TRIGGER coarsens AFTER INSERT ON coarse BEGIN UPDATE coarse SET amount = amount * 2; END',
        )
      await put('fine', { account: 1, balance: 6 }, 'account')
      const own = { ledger: at('coarse'), balances: at('fine') }
      const take = (amount: number) => within((tx) => applyEntry(tx, own, { transfer: 'a', account: 1, amount }))
      await expect(take(-4)).rejects.toMatchObject({
        ...{ code: 'OPTION_INVALID', message: expect.stringContaining('keeps another amount') },
      })
      expect((await take(-3)).kind).toBe('applied')
      expect(Number((await read('fine', { account: 1 }))?.balance)).toBe(0)
    })

    test('an answer is about one moment, whatever a rival does while it is waited for', async () => {
      if (place.dialect === 'sqlite') return // one writer at a time
      const ours = { transfer: 'ours', amount: -5 }
      const rivals = [
        { rival: { transfer: 'in', amount: 10 }, from: 2, to: 7, answer: { kind: 'applied' } },
        { rival: { transfer: 'out', amount: -4 }, from: 6, to: 2, answer: { kind: 'refused', balance: 2 } },
        { rival: ours, from: 6, to: 1, answer: { kind: 'duplicate' } },
        { rival: { ...ours, amount: -6 }, from: 6, to: 0, answer: { code: 'KEY_REUSED' } },
        { rival: ours, from: 6, to: 1, fails: true, answer: { kind: 'applied' } },
      ]
      for (const [place_, { rival, from, to, fails, answer }] of rivals.entries()) {
        const account = 210 + place_
        const apply = (tx: unknown, entry: typeof ours) => applyEntry(tx, books(), { ...entry, account })
        await put('accounts', { account, balance: from }, 'account')
        const [hasEntered, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
        const other = within(async (tx) => {
          expect((await apply(tx, rival)).kind).toBe('applied')
          hasEntered.resolve()
          await mayCommit.promise
          if (fails === true) throw new Error('the rival fails')
        }).catch((error) => expect(String(error)).toContain('the rival fails'))
        await hasEntered.promise
        const mine = within((tx) => apply(tx, ours)).catch((error: unknown) => error)
        await somebodyWaits()
        mayCommit.resolve()
        await other
        const { balance, ...rest } = (await mine) as { balance?: unknown }
        expect({ ...(balance !== undefined && { balance: Number(balance) }), ...rest }).toMatchObject(answer)
        expect(Number((await read('accounts', { account }))?.balance)).toBe(to)
      }
    })

    test('a ledger from which nobody may delete answers as any other', async () => {
      await place.exec(
        'CREATE TABLE {}sealed (transfer varchar(40), account int, amount int, PRIMARY KEY (transfer, account))',
      )
      if (place.dialect === 'postgres')
        await place.exec(`
          CREATE FUNCTION {}seal() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''sealed''; END';
          CREATE TRIGGER seals BEFORE DELETE ON {}sealed FOR EACH ROW EXECUTE FUNCTION {}seal()`)
      else if (place.dialect === 'mysql')
        await place.exec("CREATE TRIGGER seals BEFORE DELETE ON sealed FOR EACH ROW SIGNAL SQLSTATE '45000'")
      else await place.exec("CREATE TRIGGER seals BEFORE DELETE ON sealed BEGIN SELECT RAISE(ABORT, 'sealed'); END")
      await put('accounts', { account: 71, balance: 5 }, 'account')
      const own = { ledger: at('sealed'), balances: at('accounts') }
      const kinds = await within(async (tx) => {
        const seen: string[] = []
        for (const [account, amount] of [
          [71, -9],
          [72, 1],
          [71, -4],
          [71, -4],
        ] as const)
          seen.push((await applyEntry(tx, own, { transfer: 'a', account, amount })).kind)
        return seen
      })
      expect(kinds).toEqual(['refused', 'missing', 'applied', 'duplicate'])
      expect(Number((await read('accounts', { account: 71 }))?.balance)).toBe(1)
    })

    test('a limit may be a text', async () => {
      await put('accounts', { account: 31, balance: 5 }, 'account')
      const take = (id: string, amount: string) =>
        within((tx) => applyEntry(tx, books(), { transfer: id, account: 31, amount, atLeast: '0' }))
      expect((await take('x', '-4')).kind).toBe('applied')
      expect((await take('y', '-4')).kind).toBe('refused')
    })

    test('accounts may be bytes that are no text', async () => {
      const bytes = place.dialect === 'postgres' ? 'bytea' : place.dialect === 'mysql' ? 'varbinary(16)' : 'blob'
      await place.exec(`
        CREATE TABLE {}byte_entries (transfer ${bytes}, account ${bytes}, amount int, settled boolean DEFAULT true, PRIMARY KEY (transfer, account));
        CREATE TABLE {}byte_accounts (account ${bytes} PRIMARY KEY, balance int)`)
      const own = { ledger: at('byte_entries'), balances: at('byte_accounts') }
      const accounts = [0xf0, 0xf1, 0xf2].map((byte) => Buffer.from([byte, byte]))
      for (const account of accounts) {
        await put('byte_accounts', { account, balance: 0 }, 'account')
        for (const amount of [3, 4])
          await within((tx) => recordEntry(tx, own, { transfer: Buffer.from([0xff, amount]), account, amount }))
      }
      expect(await within((tx) => settleEntries(tx, own))).toBe(6)
      expect(await within((tx) => settleEntries(tx, own))).toBe(0)
      for (const account of accounts) expect(Number((await read('byte_accounts', { account }))?.balance)).toBe(7)
    })

    test('an account that has two balances is refused, and nothing changes', async () => {
      await place.exec(`
        CREATE TABLE {}two_entries (transfer varchar(40), account int, amount int, settled boolean DEFAULT true, PRIMARY KEY (transfer, account));
        CREATE TABLE {}two_balances (account int, currency varchar(3), balance int, PRIMARY KEY (account, currency))`)
      const own = { ledger: at('two_entries'), balances: at('two_balances') }
      const rows = ['EUR', 'USD'].map((currency) => ({ account: 1, currency, balance: 10 }))
      await within((tx) => insertManyOnce(tx, own.balances, rows, { unique: ['account', 'currency'] }))
      const entry = { transfer: 'a', account: 1, amount: 5 }
      const refused = { code: 'OPTION_INVALID', message: expect.stringContaining('more than one balance') }
      await expect(within((tx) => applyEntry(tx, own, entry))).rejects.toMatchObject(refused)
      await within((tx) => recordEntry(tx, own, { ...entry, transfer: 'b' }))
      await expect(within((tx) => settleEntries(tx, own))).rejects.toMatchObject(refused)
      for (const currency of ['EUR', 'USD']) expect((await read('two_balances', { currency }))?.balance).toBe(10)
    })

    test('an entry without a transfer is refused: to a unique index it would never be a copy', async () => {
      await put('accounts', { account: 41, balance: 5 }, 'account')
      for (const entry of [
        { transfer: null, account: 41, amount: 1 },
        { transfer: 't', account: null, amount: 1 },
      ]) {
        await expect(within((tx) => applyEntry(tx, books(), entry))).rejects.toMatchObject({ code: 'OPTION_INVALID' })
        await expect(within((tx) => recordEntry(tx, books(), entry))).rejects.toMatchObject({ code: 'OPTION_INVALID' })
      }
    })

    test('a balance without a value is not changed, and its entries wait', async () => {
      await put('accounts', { account: 51, balance: null }, 'account')
      const entry = { transfer: 'n', account: 51, amount: 1 }
      expect(await within((tx) => applyEntry(tx, books(), { ...entry, atLeast: null }))).toEqual({
        ...{ kind: 'refused', balance: null },
      })
      await within((tx) => recordEntry(tx, books(), entry))
      expect(await within((tx) => settleEntries(tx, books()))).toBe(0)
      await within((tx) =>
        updateIf(tx, at('accounts'), { account: 51 }, { if: { balance: null }, set: { balance: 2 } }),
      )
      expect(await within((tx) => settleEntries(tx, books()))).toBe(1)
      expect(Number((await read('accounts', { account: 51 }))?.balance)).toBe(3)
    })

    test('a key that the database stores in another form does not name the wrong one of many rows', async () => {
      if (place.dialect === 'sqlite') return
      await place.exec('CREATE TABLE {}rounded (id numeric(6, 1) PRIMARY KEY, note varchar(10))')
      await put('rounded', { id: '1.0', note: 'there' }, 'id')
      const rows = ['1.0', '2.26'].map((id) => ({ id, note: 'new' }))
      const insert = within((tx) => insertManyOnce(tx, at('rounded'), rows, { unique: ['id'] }))
      if (place.dialect === 'mysql') expect((await insert).inserted).toEqual([rows[1]])
      else await expect(insert).rejects.toThrow('stores')
    })

    test('a table without the unique index is refused: it would get the same row again and again', async () => {
      if (place.dialect === 'mysql') return // it does not notice, and the guide says so
      await place.exec('CREATE TABLE {}plain (id int PRIMARY KEY, order_id varchar(40), line int)')
      const row = { id: 1, order_id: 'a', line: 1 }
      const unique = ['order_id', 'line']
      const inserts: readonly ((tx: unknown) => Promise<unknown>)[] = [
        (tx) => insertOnce(tx, at('plain'), row, { unique }),
        (tx) => insertManyOnce(tx, at('plain'), [row], { unique }),
      ]
      // SQLite has one writer at a time, and nobody comes between the look and the insert of these.
      const upserts: typeof inserts = [
        (tx) => upsert(tx, at('plain'), row, { unique: ['order_id'] }),
        (tx) => upsertLatest(tx, at('plain'), row, { unique: ['order_id'], by: 'line' }),
      ]
      for (const write of place.dialect === 'sqlite' ? inserts : [...inserts, ...upserts])
        await expect(within(write)).rejects.toThrow(/unique/i)
      // One that is made later is found.
      await place.exec('CREATE UNIQUE INDEX one_of_each ON {}plain (order_id, line)')
      expect((await within((tx) => insertOnce(tx, at('plain'), row, { unique }))).kind).toBe('inserted')
      expect((await within((tx) => insertOnce(tx, at('plain'), { ...row, id: 2 }, { unique }))).kind).toBe('exists')
    })

    test('an entry that a trigger swallows is not called a copy', async () => {
      if (place.dialect === 'mysql') return
      await place.exec(
        'CREATE TABLE {}void (transfer varchar(40), account int, amount int, PRIMARY KEY (transfer, account))',
      )
      if (place.dialect === 'sqlite')
        await place.exec('CREATE TRIGGER swallows BEFORE INSERT ON void BEGIN SELECT RAISE(IGNORE); END')
      else
        await place.exec(`
          CREATE FUNCTION {}swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
          CREATE TRIGGER swallows BEFORE INSERT ON {}void FOR EACH ROW EXECUTE FUNCTION {}swallow()`)
      await put('accounts', { account: 61, balance: 5 }, 'account')
      const own = { ledger: at('void'), balances: at('accounts') }
      const apply = within((tx) => applyEntry(tx, own, { transfer: 'a', account: 61, amount: 1 }))
      await expect(apply).rejects.toThrow('neither inserted nor found')
    })

    test('tables and columns are called as those of a shop are', async () => {
      const [ledger, balances, id] = ['Ledger "2030"`', 'Account order', 'transfer id']
      const quote = place.dialect === 'mysql' ? '`' : '"'
      const spelt = (each: string) => quote + each.replaceAll(quote, quote + quote) + quote
      await place.exec(`
        CREATE TABLE {}${spelt(ledger)} (${spelt(id)} varchar(40), ${spelt('from')} int, ${spelt('select')} int, ${spelt('done')} boolean DEFAULT true, PRIMARY KEY (${spelt(id)}, ${spelt('from')}));
        CREATE TABLE {}${spelt(balances)} (${spelt('from')} int PRIMARY KEY, ${spelt('sum')} int)`)
      const columns = { transfer: id, account: 'from', amount: 'select', balance: 'sum', settled: 'done' }
      const own = { ledger: at(ledger), balances: at(balances), columns }
      for (const account of [1, 2]) await put(balances, { from: account, sum: 10 }, 'from')
      const move = { transfer: "o'ne", from: 1, to: 2, amount: 4 }
      expect((await within((tx) => transfer(tx, own, move))).kind).toBe('applied')
      expect((await within((tx) => transfer(tx, own, move))).kind).toBe('duplicate')
      await within((tx) => recordEntry(tx, own, { transfer: 'two', account: 2, amount: 1 }))
      expect(await within((tx) => settleEntries(tx, own))).toBe(1)
      expect((await read(balances, { from: 2 }))?.sum).toBe(15)
    })
  })
}
