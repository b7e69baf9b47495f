import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Loan } from '../../src/contracts/index.ts'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

type InTransaction = ((name: string) => void) & {
  readonly immediate: InTransaction
  readonly database: Chaining
}

interface Chaining extends TestDatabase {
  transaction(work: (name: string) => void): InTransaction
  exec(sql: string): Chaining
  prepare(sql: string): ReturnType<TestDatabase['prepare']> & { readonly database: Chaining }
}

describe('what a loan of better-sqlite3 has more', () => {
  const library = libraries.find(({ name }) => name === 'better-sqlite3') as Library
  let folder: ReturnType<typeof scratchFolder>
  let store: SqliteStore<TestDatabase>

  beforeEach(() => {
    folder = scratchFolder()
    store = library.store({ path: folder.file('app.db') })
  })
  afterEach(async () => {
    await store.close()
    folder.remove()
  })

  const borrow = (tx: TestDatabase): Loan<Chaining> =>
    store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} }) as unknown as Loan<Chaining>
  const names = (): unknown[] => {
    const outside = library.open(folder.file('app.db'))
    const rows = outside.prepare('SELECT name FROM effects').all() as { name: string }[]
    outside.close()
    return rows.map(({ name }) => name)
  }

  it('its transaction() is a savepoint, refused after the end; chained calls stay behind the guard', async () => {
    await store.transaction(async (tx) => {
      const { tx: lent, ...loan } = borrow(tx)
      lent.exec('CREATE TABLE effects (name text NOT NULL)').exec(`INSERT INTO effects VALUES ('chained')`)
      const insert = lent.transaction((name) => {
        lent.prepare('INSERT INTO effects VALUES (?)').run(name)
        if (name === 'bad') throw new Error('undo me')
      })
      insert('good')
      insert.immediate('good too')
      insert.call(undefined, 'good as well')
      expect(() => insert('bad')).toThrow('undo me')
      const chained = lent.exec('SELECT 1')
      expect(loan.end().broken).toBeUndefined()
      expect(() => insert('late')).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
      expect(() => insert.immediate('late')).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
      expect(() => chained.exec('SELECT 1')).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
    })
    expect(names()).toEqual(['chained', 'good', 'good too', 'good as well'])
  })

  it.each([
    ['a statement', (lent: Chaining) => lent.prepare('SELECT 1').database],
    ['a function of transaction()', (lent: Chaining) => lent.transaction(() => {}).database],
  ])('the way from %s back to the connection leads to the lent one', async (_, databaseOf) => {
    const work = store.transaction(async (tx) => {
      const { tx: lent, end } = borrow(tx)
      expect(databaseOf(lent)).toBe(lent)
      expect(() => databaseOf(lent).exec('COMMIT')).toThrow(expect.objectContaining({ code: 'TX_CONTROL' }))
      throw end().broken
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_CONTROL' })
  })
})
