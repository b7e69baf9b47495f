import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

describe.each(libraries.map((library) => [library.name, library] as const))(
  'a busy file on %s',
  (_, library: Library) => {
    let folder: ReturnType<typeof scratchFolder>
    let path: string
    let outside: TestDatabase

    beforeEach(async () => {
      folder = scratchFolder()
      path = folder.file('app.db')
      const installer = library.store({ path })
      await installer.schema.install()
      await installer.close()
      outside = library.open(path)
      outside.exec('CREATE TABLE effects (name text NOT NULL)')
    })
    afterEach(() => {
      outside.close()
      folder.remove()
    })

    const rows = () => outside.prepare('SELECT name FROM effects').all()
    const write = async (tx: TestDatabase) => tx.exec(`INSERT INTO effects VALUES ('m1')`)

    it('STORE_BUSY after busyTimeoutMs is a conflict, the work did not begin, and the next try works', async () => {
      const store = library.store({ path, busyTimeoutMs: 40 })
      outside.exec('BEGIN IMMEDIATE')
      let begun = false
      const error = await store
        .transaction(async () => {
          begun = true
        })
        .catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'STORE_BUSY' })
      expect(store.classify(error)).toBe('conflict')
      expect(begun).toBe(false)
      outside.exec('ROLLBACK')
      await store.transaction(write)
      expect(rows()).toHaveLength(1)
      await store.close()
    })

    it('giveUpAfterMs is heeded instead of busyTimeoutMs, lockTimeoutMs is not', async () => {
      const store = library.store({ path, busyTimeoutMs: 600_000 })
      outside.exec('BEGIN IMMEDIATE')
      await expect(store.transaction(write, { giveUpAfterMs: 30 })).rejects.toMatchObject({ code: 'STORE_BUSY' })
      const waiting = store.transaction(write, { lockTimeoutMs: 1 })
      await expect(store.transaction(write, { giveUpAfterMs: 30 })).rejects.toMatchObject({ code: 'STORE_BUSY' })
      outside.exec('ROLLBACK')
      await waiting
      expect(rows()).toHaveLength(1)
      await store.close()
    })

    it('a signal ends the wait', async () => {
      const store = library.store({ path })
      outside.exec('BEGIN IMMEDIATE')
      const reason = new Error('enough')
      const abort = new AbortController()
      const waiting = store.transaction(write, { signal: abort.signal })
      setImmediate(() => abort.abort(reason))
      await expect(waiting).rejects.toBe(reason)
      outside.exec('ROLLBACK')
      expect(rows()).toEqual([])
      await store.close()
    })

    it('a transaction inside another of the same store fails as busy instead of waiting for itself for ever', async () => {
      const store = library.store({ path, busyTimeoutMs: 40 })
      const nested = store.transaction(async () => store.transaction(write))
      await expect(nested).rejects.toMatchObject({ code: 'STORE_BUSY', message: expect.stringContaining('within(tx)') })
      expect(rows()).toEqual([])
      await store.close()
    })

    /** Without WAL a reader holds up the commit itself; a network drive is where that happens. */
    function storeWithoutWal(busyTimeoutMs: number) {
      outside.exec('PRAGMA journal_mode = DELETE')
      return library.storeOn(
        path,
        (database) => {
          const exec = database.exec.bind(database)
          database.exec = (sql) => (sql.includes('journal_mode') ? undefined : exec(sql))
        },
        busyTimeoutMs,
      )
    }

    it('a COMMIT that is held up by a reader is tried again until it succeeds', async () => {
      const store = storeWithoutWal(20_000)
      await store.transaction(async (tx) => {
        await write(tx)
        outside.exec('BEGIN')
        outside.prepare('SELECT * FROM effects').all()
        setTimeout(() => outside.exec('COMMIT'), 30)
      })
      expect(rows()).toHaveLength(1)
      await store.close()
    })

    it('a COMMIT that is held up for too long is undone, not left open', async () => {
      const store = storeWithoutWal(40)
      const held = store.transaction(async (tx) => {
        await write(tx)
        outside.exec('BEGIN')
        outside.prepare('SELECT * FROM effects').all()
      })
      await expect(held).rejects.toMatchObject({ code: 'STORE_BUSY' })
      outside.exec('COMMIT')
      expect(rows()).toEqual([])
      await store.transaction(write)
      expect(rows()).toHaveLength(1)
      await store.close()
    })
  },
)
