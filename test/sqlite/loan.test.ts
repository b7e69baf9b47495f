import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Loan } from '../../src/contracts/index.ts'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

interface IterableStatement {
  iterate(): IterableIterator<{ name: string }>
}

describe.each(libraries.map((library) => [library.name, library] as const))('a loan of %s', (_, library: Library) => {
  let folder: ReturnType<typeof scratchFolder>
  let store: SqliteStore<TestDatabase>
  let outside: TestDatabase
  let late: Error[]

  beforeEach(async () => {
    folder = scratchFolder()
    store = library.store({ path: folder.file('app.db') })
    await store.schema.install()
    outside = library.open(folder.file('app.db'))
    outside.exec(`
      CREATE TABLE effects (name text NOT NULL);
      CREATE TABLE guarded (name text);
      CREATE TRIGGER refuse BEFORE INSERT ON guarded BEGIN SELECT RAISE(ROLLBACK, 'not here'); END;
      CREATE TABLE fragile (name text UNIQUE ON CONFLICT ROLLBACK);
      INSERT INTO fragile VALUES ('taken');
    `)
    late = []
  })
  afterEach(async () => {
    await store.close()
    outside.close()
    folder.remove()
  })

  const effects = () => outside.prepare('SELECT name FROM effects').all() as { name: string }[]
  const names = () => effects().map(({ name }) => name)
  const write = (tx: TestDatabase, name: string) => tx.prepare('INSERT INTO effects VALUES (?)').run(name)
  const borrow = (tx: TestDatabase): Loan<TestDatabase> =>
    store.lend(tx, { borrower: 'tag-note', onLateCall: (error) => late.push(error) })

  it.each([
    ['ON CONFLICT ROLLBACK', `INSERT INTO fragile VALUES ('taken')`],
    ['RAISE(ROLLBACK)', `INSERT INTO guarded VALUES ('x')`],
  ])('%s ends the transaction: every later call is refused, nothing autocommits', async (_, ruinous) => {
    const work = store.transaction(async (tx) => {
      await store.inbox.claim(tx, [{ handler: 'h', key: 'm1', fingerprint: undefined }])
      const loan = borrow(tx)
      write(loan.tx, 'before')
      expect(() => loan.tx.exec(ruinous)).toThrow()
      expect(() => write(loan.tx, 'after')).toThrow(expect.objectContaining({ code: 'TX_ENDED' }))
      await expect(store.inbox.claim(tx, [])).rejects.toMatchObject({ code: 'TX_ENDED' })
      expect(loan.end().broken).toMatchObject({ code: 'TX_ENDED' })
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_ENDED' })
    expect(names()).toEqual([])
    expect(await recordOf(store, { handler: 'h', key: 'm1' })).toBeUndefined()
  })

  it('what an aborted transaction has left running does not land in the next one on the same connection', async () => {
    const abort = new AbortController()
    const begun = Promise.withResolvers<Loan<TestDatabase>>()
    const aborted = store.transaction(
      async (tx) => {
        begun.resolve(borrow(tx))
        await new Promise(() => {})
      },
      { signal: abort.signal },
    )
    const loan = await begun.promise
    const statement = loan.tx.prepare('INSERT INTO effects VALUES (?)')
    abort.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await store.transaction(async (tx) => {
      write(tx, 'next')
      expect(() => write(loan.tx, 'late')).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
      expect(() => statement.run('late')).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
      await expect(store.inbox.claim(loan.tx, [])).rejects.toMatchObject({ code: 'TX_CLOSED' })
    })
    expect(names()).toEqual(['next'])
    expect(late).toHaveLength(3)
  })

  it('an iterator that was left open is closed with the loan and hinders no commit', async () => {
    await store.transaction(async (tx) => {
      for (const name of ['a', 'b', 'c']) write(tx, name)
      const loan = borrow(tx)
      const statement = loan.tx.prepare('SELECT name FROM effects ORDER BY name') as unknown as IterableStatement
      const rows = statement.iterate()
      expect(rows.next().value).toMatchObject({ name: 'a' })
      loan.end()
      expect(() => rows.next()).toThrow(expect.objectContaining({ code: 'TX_CLOSED' }))
      write(tx, 'd')
    })
    expect(late).toHaveLength(1)
    expect(names()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('rows can be iterated to the end, and left early', async () => {
    await store.transaction(async (tx) => {
      for (const name of ['a', 'b', 'c']) write(tx, name)
      const { tx: lent } = borrow(tx)
      const statement = lent.prepare('SELECT name FROM effects ORDER BY name') as unknown as IterableStatement
      expect([...statement.iterate()].map(({ name }) => name)).toEqual(['a', 'b', 'c'])
      for (const row of statement.iterate()) {
        expect(row.name).toBe('a')
        break
      }
      write(lent, 'd')
    })
    expect(names()).toHaveLength(4)
  })

  it('what lasts beyond the loan is refused', async () => {
    const work = store.transaction(async (tx) => {
      const loan = borrow(tx)
      expect(() => loan.tx.close()).toThrow(expect.objectContaining({ code: 'TX_CONTROL' }))
      write(tx, 'm1')
      throw loan.end().broken
    })
    await expect(work).rejects.toMatchObject({ code: 'TX_CONTROL' })
    expect(names()).toEqual([])
    await store.ping()
  })

  it('a transaction that was swapped for another from behind is not committed', async () => {
    let native: TestDatabase | undefined
    const own = library.storeOn(folder.file('app.db'), (database) => {
      native ??= database
    })
    const swapped = own.transaction(async (tx) => {
      write(tx, 'before')
      native?.exec('ROLLBACK; BEGIN')
      write(tx, 'after')
    })
    await expect(swapped).rejects.toMatchObject({ code: 'TX_ENDED' })
    const committed = own.transaction(async (tx) => {
      write(tx, 'before')
      native?.exec('COMMIT')
    })
    await expect(committed).rejects.toThrow(/FOREIGN KEY/)
    expect(names()).toEqual([])
    await own.transaction(async (tx) => write(tx, 'afterwards'))
    expect(names()).toEqual(['afterwards'])
    await own.close()
  })
})
