import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

const insert = 'INSERT INTO effects VALUES (?)'

/** What the two libraries name differently. */
interface Settings {
  setReadBigInts?(on: boolean): void
  safeIntegers?(on: boolean): void
}

describe.each(libraries.map((library) => [library.name, library] as const))(
  'statements that handlers prepare with %s',
  (_, library: Library) => {
    let folder: ReturnType<typeof scratchFolder>
    let store: SqliteStore<TestDatabase>
    let prepared: string[]

    beforeEach(async () => {
      folder = scratchFolder()
      prepared = []
      let isWriter = true
      store = library.storeOn(folder.file('app.db'), (database) => {
        if (isWriter) countPrepared(database, prepared)
        isWriter = false
      })
      await store.schema.install()
      await store.transaction(async (tx) => tx.exec('CREATE TABLE effects (name text NOT NULL)'))
    })
    afterEach(async () => {
      await store.close()
      folder.remove()
    })

    const timesPrepared = () => prepared.filter((sql) => sql === insert).length
    const inLoan = <T>(work: (tx: TestDatabase) => T): Promise<T> =>
      store.transaction(async (tx) => {
        const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
        try {
          return work(loan.tx)
        } finally {
          loan.end()
        }
      })
    const names = () =>
      inLoan((tx) =>
        (tx.prepare('SELECT name FROM effects ORDER BY rowid').all() as { name: string }[]).map((row) => row.name),
      )

    it('are compiled once for many handlers that only run them', async () => {
      for (const name of ['a', 'b', 'c']) await inLoan((tx) => tx.prepare(insert).run(name))
      expect(timesPrepared()).toBe(1)
      expect(await names()).toEqual(['a', 'b', 'c'])
    })

    it('have one user at a time', async () => {
      await inLoan((tx) => tx.prepare(insert).run('a'))
      await inLoan((tx) => {
        const statements = [tx.prepare(insert), tx.prepare(insert)]
        for (const [place, statement] of statements.entries()) statement.run(`b${place}`)
      })
      expect(timesPrepared()).toBe(2)
      expect(await names()).toEqual(['a', 'b0', 'b1'])
    })

    it('cannot be reached by who had them before', async () => {
      const kept = await inLoan((tx) => tx.prepare(insert))
      await inLoan((tx) => {
        tx.prepare(insert).run('mine')
        expect(() => kept.run('late')).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
      })
      expect(timesPrepared()).toBe(1)
      expect(await names()).toEqual(['mine'])
    })

    it('are not handed on with the settings of who had them before', async () => {
      await inLoan((tx) => {
        const statement = tx.prepare(insert) as ReturnType<TestDatabase['prepare']> & Settings
        if (statement.setReadBigInts) statement.setReadBigInts(true)
        else statement.safeIntegers?.(true)
        expect(typeof lastRow(statement.run('a'))).toBe('bigint')
      })
      expect(typeof lastRow(await inLoan((tx) => tx.prepare(insert).run('b')))).toBe('number')
      expect(timesPrepared()).toBe(2)
    })

    it('are not handed on after they have failed', async () => {
      await inLoan((tx) => expect(() => tx.prepare(insert).run(null)).toThrow('NOT NULL'))
      await inLoan((tx) => tx.prepare(insert).run('b'))
      expect(timesPrepared()).toBe(2)
    })

    it('follow a table that has changed since', async () => {
      await inLoan((tx) => tx.prepare(insert).run('a'))
      await inLoan((tx) => tx.exec('DROP TABLE effects; CREATE TABLE effects (name text NOT NULL)'))
      await inLoan((tx) => tx.prepare(insert).run('b'))
      expect(await names()).toEqual(['b'])
    })
  },
)

function lastRow(result: unknown): unknown {
  return (result as { lastInsertRowid: unknown }).lastInsertRowid
}

function countPrepared(database: TestDatabase, prepared: string[]): void {
  const native = database.prepare.bind(database)
  database.prepare = (sql) => {
    prepared.push(sql)
    return native(sql)
  }
}
