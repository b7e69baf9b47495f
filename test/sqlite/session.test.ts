import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Loan } from '../../src/contracts/index.ts'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

interface PragmaMethod {
  pragma?(sql: string): unknown
  function?(name: string, body: () => unknown): unknown
}

const refused = expect.objectContaining({ code: 'TX_CONTROL' })

describe.each(libraries.map((library) => [library.name, library] as const))(
  'the session that handlers share with %s',
  (_, library: Library) => {
    let folder: ReturnType<typeof scratchFolder>
    let store: SqliteStore<TestDatabase>
    let native: TestDatabase
    let outside: TestDatabase

    beforeEach(async () => {
      folder = scratchFolder()
      let isWriter = true
      store = library.storeOn(folder.file('app.db'), (database) => {
        if (isWriter) native = database
        isWriter = false
      })
      await store.schema.install()
      outside = library.open(folder.file('app.db'))
      outside.exec('CREATE TABLE effects (name text NOT NULL)')
    })
    afterEach(async () => {
      await store.close()
      outside.close()
      folder.remove()
    })

    const write = (tx: TestDatabase, name: string) => tx.prepare('INSERT INTO effects VALUES (?)').run(name)
    const names = () =>
      (outside.prepare('SELECT name FROM effects ORDER BY rowid').all() as { name: string }[]).map(({ name }) => name)
    const borrow = (tx: TestDatabase): Loan<TestDatabase> =>
      store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
    const record = (key: string) => ({ handler: 'h', key, fingerprint: undefined })
    const pragma = (database: TestDatabase, name: string) =>
      Object.values(database.prepare(`PRAGMA ${name}`).get() as object)[0]

    /** One message after the other in one transaction, as in a batch. */
    const inBatch = (...handlers: ((tx: TestDatabase) => void)[]) =>
      store.transaction(async (tx) => {
        for (const [place, handler] of handlers.entries()) {
          await store.inbox.claim(tx, [record(`m${place}`)])
          const loan = borrow(tx)
          handler(loan.tx)
          const { broken } = loan.end()
          if (broken !== undefined) throw broken
        }
      })

    it.each([
      'PRAGMA query_only = ON',
      'PRAGMA query_only(1)',
      'PRAGMA main.query_only = 1',
      'PRAGMA "query_only" = 1',
      '/* so */ pragma locking_mode=EXCLUSIVE',
      'SELECT 1; PRAGMA foreign_keys = OFF',
      'EXPLAIN PRAGMA query_only = ON',
      'PRAGMA writable_schema = ON',
      `ATTACH ':memory:' AS other`,
      `ATTACH '/no/such/folder/other.db' AS other`,
      'DETACH other',
    ])('%s is refused by its name, and the connection stays as it was', async (sql) => {
      await inBatch(
        (tx) => {
          const before = pragma(tx, 'query_only')
          const prepare = () => tx.prepare(sql).run()
          expect(() => tx.exec(sql)).toThrow(refused)
          expect(prepare).toThrow(refused)
          // A second time: nothing of it was kept by the first.
          expect(prepare).toThrow(/PRAGMA|ATTACH|DETACH/)
          expect(pragma(tx, 'query_only')).toBe(before)
        },
        (tx) => void write(tx, 'neighbour'),
      )
      expect(names()).toEqual(['neighbour'])
      expect(['query_only', 'foreign_keys', 'locking_mode'].map((name) => pragma(native, name))).toEqual([
        0,
        1,
        'normal',
      ])
      expect(native.prepare('PRAGMA database_list').all()).toHaveLength(2)
    })

    it('so is what the library has beside SQL for it', async () => {
      await inBatch((tx) => {
        const { pragma: method, function: define } = tx as TestDatabase & PragmaMethod
        if (method !== undefined) expect(() => method.call(tx, 'query_only = 1')).toThrow(refused)
        // It would replace the clock of the store, too.
        expect(() => define?.call(tx, 'unixepoch', () => 0)).toThrow(refused)
        write(tx, 'm0')
      })
      expect(names()).toEqual(['m0'])
      expect((await recordOf(store, record('m0')))?.processedAt.getTime()).toBeGreaterThan(1)
    })

    it('a pragma that only reads, or that belongs to the file, is allowed', async () => {
      await inBatch((tx) => {
        expect(tx.prepare('PRAGMA table_info(effects)').all()).toHaveLength(1)
        expect(tx.prepare('PRAGMA main.table_info(effects)').all()).toHaveLength(1)
        expect(pragma(tx, 'main.journal_mode')).toBe('wal')
        tx.exec('PRAGMA user_version = 7')
      })
      expect(pragma(outside, 'user_version')).toBe(7)
    })

    it.each([
      'CREATE TEMP TABLE effects (name text)',
      'CREATE TABLE temp.effects (name text)',
      'CREATE TABLE "temp"."effects" (name text)',
      'CREATE TEMP VIEW effects AS SELECT 1 AS name',
    ])('%s ends with its handler', async (sql) => {
      const make = (tx: TestDatabase) => void tx.prepare(sql).run()
      for (const round of ['a', 'b']) {
        await store.transaction(async (tx) => {
          const loan = borrow(tx)
          make(loan.tx)
          loan.end()
          const next = borrow(tx)
          write(next.tx, round)
          next.end()
        })
      }
      expect(names()).toEqual(['a', 'b'])
    })

    it('a temporary trigger does not watch the neighbours', async () => {
      await inBatch(
        (tx) =>
          void tx.exec(
            `CREATE TEMP TRIGGER spy AFTER INSERT ON main.effects BEGIN INSERT INTO effects VALUES ('spy'); END`,
          ),
        (tx) => void write(tx, 'neighbour'),
      )
      expect(names()).toEqual(['neighbour'])
    })

    it('temporary tables with the names of ours hide none of them', async () => {
      native.exec(`
        CREATE TEMP TABLE justonce_inbox AS SELECT * FROM main.justonce_inbox WHERE false;
        CREATE TEMP TABLE justonce_meta AS SELECT * FROM main.justonce_meta;
        CREATE TEMP TABLE justonce_queue AS SELECT * FROM main.justonce_queue WHERE false;
        CREATE TEMP TABLE justonce_facts AS SELECT * FROM main.justonce_facts WHERE false;
      `)
      await store.schema.install()
      await inBatch((tx) => void write(tx, 'm0'))
      expect(await recordOf(store, record('m0'))).toBeDefined()
      await expect(inBatch(() => {})).resolves.toBeUndefined()
      expect(outside.prepare('SELECT key FROM justonce_inbox').all()).toHaveLength(1)
    })

    it.each([
      'query_only = ON',
      'foreign_keys = OFF',
      'locking_mode = EXCLUSIVE',
      'synchronous = OFF',
      'busy_timeout = 9',
    ])('what another user of the connection has set (%s) is put right at the next opening', async (setting) => {
      native.exec(`PRAGMA ${setting}`)
      await inBatch((tx) => {
        write(tx, 'm0')
        const settings = ['query_only', 'foreign_keys', 'main.synchronous', 'main.locking_mode', 'busy_timeout']
        expect(settings.map((name) => pragma(tx, name))).toEqual([0, 1, 2, 'normal', 0])
      })
      outside.exec(`INSERT INTO effects VALUES ('of another process')`)
      expect(names()).toEqual(['m0', 'of another process'])
    })

    it('files that another user of the connection has attached: nothing is begun until they are detached', async () => {
      native.exec(`ATTACH '${folder.file('other.db')}' AS other`)
      const error = await inBatch((tx) => void write(tx, 'm0')).catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'FILES_ATTACHED', message: expect.stringContaining('other') })
      expect(store.classify(error)).toBe('unavailable')
      expect(() => store.within(native)).toThrow()
      native.exec('DETACH other')
      await inBatch((tx) => void write(tx, 'm0'))
      expect(names()).toEqual(['m0'])
    })

    it('a transaction of the caller that reaches into attached files is not joined', async () => {
      const database = library.open(folder.file('app.db'))
      database.exec(`ATTACH ':memory:' AS other; BEGIN IMMEDIATE`)
      expect(() => store.within(database)).toThrow(expect.objectContaining({ code: 'FILES_ATTACHED' }))
      database.exec('ROLLBACK; DETACH other; BEGIN IMMEDIATE')
      expect(store.within(database).name).toBe('sqlite')
      database.close()
    })

    it('a connection that comes with attached files is refused, and those are left as they are', async () => {
      const other = library.open(folder.file('other.db'))
      other.exec('CREATE TABLE t (a)')
      const withOther = library.storeOn(folder.file('app.db'), (database) =>
        database.exec(`ATTACH '${folder.file('other.db')}' AS other`),
      )
      await expect(withOther.schema.check()).rejects.toMatchObject({ code: 'OPTION_INVALID' })
      await expect(withOther.ping()).rejects.toThrow(/other/)
      expect(pragma(other, 'journal_mode')).toBe('delete')
      await withOther.close()
      other.close()
    })

    it('errors that a handler meets elsewhere do not look as if the store were away', async () => {
      writeFileSync(folder.file('garbage.db'), 'not a database, but long enough to be read as one'.repeat(50))
      await store.transaction(async (tx) => {
        const loan = borrow(tx)
        for (const file of ['/no/such/folder/other.db', folder.file('garbage.db')])
          expect(() => loan.tx.exec(`ATTACH '${file}' AS other`)).toThrow(refused)
        // A full-text index that disagrees with its content is one broken table, and not a broken file.
        loan.tx.exec(`CREATE VIRTUAL TABLE words USING fts5 (name, content = 'effects')`)
        loan.tx.exec(`INSERT INTO words (rowid, name) VALUES (1, 'nowhere else')`)
        expect(() => loan.tx.exec(`INSERT INTO words (words, rank) VALUES ('integrity-check', 1)`)).toThrow(
          /malformed|corrupt/,
        )
        expect(loan.end()).toMatchObject({ trouble: 'none', broken: undefined })
      })
    })
  },
)
