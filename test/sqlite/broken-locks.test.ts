import { execFileSync } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

function lookFromAnotherProcess(path: string): void {
  const look = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1])
    db.prepare('SELECT count(*) FROM effects').get()
    db.close()`
  execFileSync(process.execPath, ['-e', look, path])
}

function writeFromAnotherProcess(path: string, effect: string): void {
  const write = `const db = new (require('node:sqlite').DatabaseSync)(process.argv[1])
    db.prepare('INSERT INTO effects VALUES (?)').run(process.argv[2])
    db.close()`
  execFileSync(process.execPath, ['-e', write, path, effect])
}

const record = (key: string) => ({ handler: 'h', key, fingerprint: undefined })

describe.each(libraries.map((library, place) => [library.name, library, libraries[1 - place] as Library] as const))(
  'a file whose locks do not hold, with %s',
  (_, library, otherLibrary) => {
    let folder: ReturnType<typeof scratchFolder>
    let path: string
    let store: SqliteStore<TestDatabase>

    beforeEach(async () => {
      folder = scratchFolder()
      path = folder.file('app.db')
      store = library.store({ path })
      await store.schema.install()
      await store.transaction(async (tx) => tx.exec('CREATE TABLE effects (name text NOT NULL)'))
    })
    afterEach(async () => {
      await store.close()
      folder.remove()
    })

    const effects = (database: TestDatabase) =>
      (database.prepare('SELECT name FROM effects ORDER BY name').all() as { name: string }[]).map(({ name }) => name)

    it('what another copy of SQLite in the process commits meanwhile is not overwritten, and the work can be tried again', async () => {
      const other = otherLibrary.open(path)
      const handle = (between: () => void) =>
        store.transaction(async (tx) => {
          await store.inbox.claim(tx, [record('m1')])
          tx.exec(`INSERT INTO effects VALUES ('of the handler')`)
          between()
        })
      const error = await handle(() => other.exec(`INSERT INTO effects VALUES ('of a route')`)).catch((e: unknown) => e)
      expect(error).toMatchObject({ code: 'FILE_LOCK_BROKEN' })
      expect(store.classify(error)).toBe('conflict')
      await handle(() => {})
      expect(effects(other)).toEqual(['of a route', 'of the handler'])
      other.close()
    })

    it('a transaction that is larger than the cache is not taken for that of somebody else', async () => {
      const outside = library.open(path)
      outside.exec('PRAGMA wal_checkpoint(RESTART)')
      await store.transaction(async (tx) => {
        const insert = tx.prepare('INSERT INTO effects VALUES (hex(randomblob(50000)))')
        for (let times = 0; times < 60; times++) insert.run()
      })
      expect(effects(outside)).toHaveLength(60)
      outside.close()
    })

    it('nothing is committed to a log that others have removed', async () => {
      await store.transaction((tx) => store.inbox.claim(tx, [record('m1')]))
      // A process that closes a file which it has opened itself gives up all locks that its process has on it.
      for (const part of ['', '-wal', '-shm']) copyFileSync(`${path}${part}`, folder.file(`backup.db${part}`))
      // It takes itself for the last one, and removes the log.
      lookFromAnotherProcess(path)
      await store.transaction((tx) => store.inbox.claim(tx, [record('m2')]))
      expect(await recordOf(store, record('m2'))).toBeDefined()
      // A copy of the file is what would be left if the process died now.
      for (const part of ['', '-wal']) copyFileSync(`${path}${part}`, folder.file(`left.db${part}`))
      const left = library.store({ path: folder.file('left.db') })
      expect(await recordOf(left, record('m1'))).toBeDefined()
      expect(await recordOf(left, record('m2'))).toBeDefined()
      await left.close()
    })

    it('where another connection of the process keeps the removed log, nothing is committed', async () => {
      const route = library.open(path)
      route.exec(`INSERT INTO effects VALUES ('of a route')`)
      await store.transaction((tx) => store.inbox.claim(tx, [record('m1')]))
      for (const part of ['', '-wal', '-shm']) copyFileSync(`${path}${part}`, folder.file(`backup.db${part}`))
      lookFromAnotherProcess(path)
      const claim = () => store.transaction((tx) => store.inbox.claim(tx, [record('m2')]))
      await expect(claim()).rejects.toMatchObject({ code: 'FILE_REPLACED' })
      await expect(store.ping()).rejects.toMatchObject({ code: 'FILE_REPLACED' })
      route.close()
      await claim()
      expect(await recordOf(store, record('m1'))).toBeDefined()
      expect(await recordOf(store, record('m2'))).toBeDefined()
    })

    it('a log that is removed in the middle of a transaction lets nothing be committed', async () => {
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [record('m1')])
        rmSync(`${path}-wal`)
      })
      const error = await work.catch((e: unknown) => e)
      expect(error).toMatchObject({ code: 'FILE_REPLACED' })
      expect(store.classify(error)).toBe('unavailable')
    })

    it('nothing is committed beside others who have another index of the log, because somebody has removed ours', async () => {
      const handle = (key: string) =>
        store.transaction(async (tx) => {
          await store.inbox.claim(tx, [record(key)])
          tx.exec(`INSERT INTO effects VALUES ('${key}')`)
        })
      await handle('m1')
      rmSync(`${path}-shm`)
      writeFromAnotherProcess(path, 'of another process')
      await handle('m2')
      writeFromAnotherProcess(path, 'of a third one')
      const left = library.open(path)
      expect(effects(left)).toEqual(['m1', 'm2', 'of a third one', 'of another process'])
      left.close()
    })

    it.each([['-shm'], ['-wal', '-shm']])(
      'what others have committed since %s was removed outlives the end of the store',
      async (...removed) => {
        const outside = library.open(path)
        outside.exec('PRAGMA wal_checkpoint(TRUNCATE)')
        outside.close()
        await store.transaction((tx) => store.inbox.claim(tx, [record('m1')]))
        for (const part of removed) rmSync(`${path}${part}`, { force: true })
        writeFromAnotherProcess(path, 'of another process')
        await store.close()
        const left = library.open(path)
        expect(effects(left)).toEqual(['of another process'])
        left.close()
      },
    )

    it('an index of the log that is removed in the middle of a transaction lets nothing be committed', async () => {
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [record('m1')])
        rmSync(`${path}-shm`)
      })
      const error = await work.catch((e: unknown) => e)
      expect(error).toMatchObject({ code: 'FILE_REPLACED' })
      expect(store.classify(error)).toBe('unavailable')
      await store.transaction((tx) => store.inbox.claim(tx, [record('m1')]))
      expect(await recordOf(store, record('m1'))).toBeDefined()
    })
  },
)
