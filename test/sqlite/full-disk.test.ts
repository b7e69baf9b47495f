import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SqliteStore } from '../../src/stores/sqlite/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

const big = new Uint8Array(64 * 1024)

describe.each(libraries.map((library) => [library.name, library] as const))(
  'a full disk on %s',
  (_, library: Library) => {
    let folder: ReturnType<typeof scratchFolder>
    let store: SqliteStore<TestDatabase>
    const park = (key: string, target: SqliteStore<TestDatabase>) =>
      target.transaction(async (tx) => {
        await target.inbox.claim(tx, [{ handler: 'h', key, fingerprint: undefined }])
        await target.queue.send(tx, 'notes', [{ message: { envelope: new Uint8Array(), body: big }, key: undefined }])
      })
    const firstFailure = async (target: SqliteStore<TestDatabase>) => {
      for (let index = 0; index < 200; index++) {
        const error = await park(`m${index}`, target).catch((reason: unknown) => reason)
        if (error !== undefined) return { key: `m${index}`, error, committed: index }
      }
      throw new Error('the disk did not become full')
    }

    beforeEach(() => {
      folder = scratchFolder()
    })
    afterEach(() => folder.remove())

    it('a limit on pages: STORE_FULL, nothing of it is there, and it goes on when there is room', async () => {
      let native: TestDatabase | undefined
      store = library.storeOn(folder.file('app.db'), (database) => {
        native ??= database
      })
      await store.schema.install()
      native?.exec('PRAGMA max_page_count = 200')
      const { key, error, committed } = await firstFailure(store)
      expect(error).toMatchObject({ code: 'STORE_FULL' })
      expect(store.classify(error)).toBe('unavailable')
      expect(await recordOf(store, { handler: 'h', key })).toBeUndefined()
      expect(await store.queue.count('notes')).toMatchObject({ ready: committed, hidden: 0 })
      native?.exec('PRAGMA max_page_count = 100000')
      await park(key, store)
      expect(await store.queue.count('notes')).toMatchObject({ ready: committed + 1, hidden: 0 })
      await store.close()
    })

    it("a handler's own statement that finds the disk full breaks the loan as trouble of the store", async () => {
      let native: TestDatabase | undefined
      store = library.storeOn(folder.file('app.db'), (database) => {
        native ??= database
      })
      await store.schema.install()
      native?.exec('CREATE TABLE effects (content blob); PRAGMA max_page_count = 100')
      const work = store.transaction(async (tx) => {
        const loan = store.lend(tx, { borrower: 'tag-note', onLateCall: () => {} })
        const insert = () => {
          for (let index = 0; index < 200; index++) loan.tx.prepare('INSERT INTO effects VALUES (?)').run(big)
        }
        expect(insert).toThrow(/full/)
        expect(loan.end().trouble).toBe('unavailable')
        throw new Error('swallowed and replaced')
      })
      await expect(work).rejects.toThrow('swallowed and replaced')
      await store.close()
    })

    it('a real file system: STORE_FULL, nothing of it is there, and it goes on when there is room', async ({
      skip,
    }) => {
      const mount = join(folder.path, 'small')
      if (!mountSmallDisk(mount)) return skip('mounting a small tmpfs needs root')
      try {
        store = library.store({ path: join(mount, 'app.db') })
        await store.schema.install()
        const ballast = join(mount, 'ballast')
        writeFileSync(ballast, new Uint8Array(512 * 1024))
        const { key, error, committed } = await firstFailure(store)
        expect(store.classify(error)).toBe('unavailable')
        expect(error).toMatchObject({ code: 'STORE_FULL' })
        expect(await recordOf(store, { handler: 'h', key })).toBeUndefined()
        expect(await store.queue.count('notes')).toMatchObject({ ready: committed, hidden: 0 })
        rmSync(ballast)
        await store.ping()
        await park(key, store)
        expect(await store.queue.count('notes')).toMatchObject({ ready: committed + 1, hidden: 0 })
        await store.close()
      } finally {
        execFileSync('umount', ['-l', mount])
      }
    })
  },
)

function mountSmallDisk(path: string): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync('mkdir', ['-p', path])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', path], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
