import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type SqliteStore, sqliteStore } from '../../src/stores/sqlite/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { type Library, libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

let folder: ReturnType<typeof scratchFolder>
let path: string

beforeEach(() => {
  folder = scratchFolder()
  path = folder.file('app.db')
})
afterEach(() => folder.remove())

const claim = { handler: 'h', key: 'm1', fingerprint: undefined }

describe('the options of sqliteStore()', () => {
  const invalid = (code: string) => expect.objectContaining({ code })

  it('a connection that others may use is refused, and why is said', () => {
    const database = new DatabaseSync(':memory:')
    // @ts-expect-error exclusive is required
    expect(() => sqliteStore({ database })).toThrow(/join the handler's transaction/)
    // @ts-expect-error exclusive: false is no promise
    expect(() => sqliteStore({ database, exclusive: false })).toThrow(invalid('OPTION_INVALID'))
  })

  it('what makes no sense is refused', () => {
    expect(() => sqliteStore({ path: '' })).toThrow(invalid('OPTION_INVALID'))
    expect(() => sqliteStore({ path, busyTimeoutMs: -1 })).toThrow(invalid('OPTION_INVALID'))
    expect(() => sqliteStore({ path, busyTimeoutMs: Number.NaN })).toThrow(invalid('OPTION_INVALID'))
    expect(() => sqliteStore({} as { path: string })).toThrow(invalid('OPTION_INVALID'))
    expect(() => sqliteStore({ path, bussyTimeoutMs: 1 } as { path: string })).toThrow(/bussyTimeoutMs/)
  })
})

describe('the file of a store', () => {
  const once = async (name: string, before = () => {}) => {
    const store = sqliteStore({ path: name })
    await store.schema.install()
    before()
    await store.transaction((tx) => store.inbox.claim(tx, [claim]))
    const found = await recordOf(store, claim)
    await store.close()
    return found
  }

  it('is the same one for all its connections, also when the process changes its folder in between', async () => {
    mkdirSync(folder.file('elsewhere'))
    const before = process.cwd()
    process.chdir(folder.file('.'))
    try {
      expect(await once('app.db', () => process.chdir(folder.file('elsewhere')))).toMatchObject({ state: 'processed' })
    } finally {
      process.chdir(before)
    }
  })

  it.each(['file::memory:', 'file:notes?mode=memory'])(
    '%s is in memory, and one for reading and writing',
    async (name) => {
      expect(await once(name)).toMatchObject({ state: 'processed' })
    },
  )
})

describe('a connection that was given up to the store', () => {
  it('works, whatever its defaults, and stays open when the store is closed', async () => {
    const database = new DatabaseSync(path, {
      returnArrays: true,
      readBigInts: true,
      enableForeignKeyConstraints: false,
    })
    const store = sqliteStore({ database, exclusive: true })
    await store.schema.install()
    await store.schema.check()
    await store.transaction(async (tx) => {
      await store.inbox.claim(tx, [claim])
      await store.queue.send(tx, 'notes', [
        { message: { envelope: Uint8Array.of(1), body: Uint8Array.of(2) }, key: undefined },
      ])
      expect(tx.prepare('SELECT 7').get()).toEqual([7n])
    })
    expect((await recordOf(store, claim))?.processedAt.getTime()).toBeGreaterThan(0)
    const [taken] = await store.queue.take('notes', { limit: 1, visibilityMs: 1000 })
    expect(taken).toEqual({
      ticket: expect.any(String),
      deliveries: 1,
      message: { envelope: Uint8Array.of(1), body: Uint8Array.of(2) },
    })
    await store.close()
    expect(database.isOpen).toBe(true)
    database.close()
  })

  it('is refused while it has a transaction open, and is closed for good when its owner closes it', async () => {
    const database = new DatabaseSync(path)
    const store = sqliteStore({ database, exclusive: true })
    database.exec('BEGIN')
    await expect(store.ping()).rejects.toMatchObject({ code: 'OPTION_INVALID' })
    database.exec('COMMIT')
    await store.ping()
    database.close()
    const error = await store.ping().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'STORE_CLOSED' })
    expect(store.classify(error)).toBe('unavailable')
    await store.close()
  })

  it('in memory it listens to what is announced', async () => {
    const store = sqliteStore({ path: ':memory:' })
    await store.schema.install()
    const woken = Promise.withResolvers<void>()
    const stop = await store.queue.listen?.('notes', woken.resolve)
    await store.queue.send(undefined, 'notes', [
      { message: { envelope: new Uint8Array(), body: new Uint8Array() }, key: undefined },
    ])
    await store.queue.announce?.('notes')
    await woken.promise
    expect(await store.queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
    await stop?.()
    await store.close()
  })
})

describe.each(libraries.map((library) => [library.name, library] as const))(
  'a connection of %s',
  (_, library: Library) => {
    const pragma = (tx: TestDatabase, name: string) => Object.values(tx.prepare(`PRAGMA ${name}`).get() as object)[0]

    it('writes ahead, syncs every commit and checks foreign keys', async () => {
      const store = library.store({ path })
      const settings = await store.transaction(async (tx) =>
        ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout'].map((name) => pragma(tx, name)),
      )
      expect(settings).toEqual(['wal', 2, 1, 0])
      await store.close()
    })

    it('two concurrent transactions never interleave, however often their work pauses', async () => {
      const store = library.store({ path })
      await store.schema.install()
      const steps: string[] = []
      const work = (name: string) =>
        store.transaction(async () => {
          for (let step = 0; step < 3; step++) {
            steps.push(`${name}${step}`)
            await new Promise(setImmediate)
          }
        })
      await Promise.all([work('a'), work('b'), work('c')])
      expect(steps).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'c0', 'c1', 'c2'])
      await store.close()
    })

    it('a ticket is never given out again: a late removal of an old one removes nothing else', async () => {
      const store = library.store({ path })
      await store.schema.install()
      const send = () =>
        store.queue.send(undefined, 'notes', [
          { message: { envelope: new Uint8Array(), body: new Uint8Array() }, key: undefined },
        ])
      await send()
      const [old] = await store.queue.take('notes', { limit: 1, visibilityMs: 60_000 })
      const tickets = [old?.ticket ?? '']
      await store.queue.remove(undefined, 'notes', tickets)
      await send()
      await store.queue.remove(undefined, 'notes', tickets)
      expect(await store.queue.count('notes')).toMatchObject({ ready: 1, hidden: 0 })
      await store.close()
    })

    it('a file out of reach is unavailable, and is opened as soon as it can be', async () => {
      const later = folder.file('later')
      const store = library.store({ path: `${later}/app.db` })
      const error = await store.ping().catch((reason: unknown) => reason)
      expect(store.classify(error)).toBe('unavailable')
      mkdirSync(later)
      await store.ping()
      await store.schema.install()
      await store.close()
    })

    it.each(['link', 'folder/app.db'])('a %s that leads to another file now is followed', async (name) => {
      const stores: Record<string, SqliteStore<TestDatabase>> = {}
      for (const place of ['one', 'two']) {
        mkdirSync(folder.file(place))
        stores[place] = library.store({ path: folder.file(`${place}/app.db`) })
        await stores[place].schema.install()
      }
      const lead = (place: string) => {
        symlinkSync(name === 'link' ? `${place}/app.db` : place, folder.file('new'))
        renameSync(folder.file('new'), folder.file(name.split('/')[0] as string))
      }
      lead('one')
      const store = library.store({ path: folder.file(name) })
      await store.transaction((tx) => store.inbox.claim(tx, [claim]))
      lead('two')
      const again = { ...claim, key: 'm2' }
      await store.transaction((tx) => store.inbox.claim(tx, [claim, again]))
      for (const each of [store, stores.two as SqliteStore<TestDatabase>]) {
        expect(await recordOf(each, claim)).toBeDefined()
        expect(await recordOf(each, again)).toBeDefined()
      }
      expect(await recordOf(stores.one as SqliteStore<TestDatabase>, again)).toBeUndefined()
      for (const each of [store, ...Object.values(stores)]) await each.close()
    })

    it('a link that leads to another file in the middle of a transaction lets nothing be committed', async () => {
      const store = library.store({ path: folder.file('link') })
      symlinkSync('app.db', folder.file('link'))
      await store.schema.install()
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [claim])
        library.open(folder.file('other.db')).close()
        symlinkSync('other.db', folder.file('new'))
        renameSync(folder.file('new'), folder.file('link'))
      })
      const error = await work.catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'FILE_REPLACED' })
      expect(store.classify(error)).toBe('unavailable')
      await store.close()
    })

    it('open that returns the same connection again is refused: reads would see what is not committed', async () => {
      const database = library.open(path)
      const store = sqliteStore<TestDatabase>({ path, open: () => database })
      await expect(
        (async () => {
          await store.schema.install()
          await store.schema.check()
        })(),
      ).rejects.toMatchObject({ code: 'OPTION_INVALID', message: expect.stringContaining('open') })
      await store.close()
    })

    it('a connection that is closed under an open transaction leaves nothing, and another is opened', async () => {
      let native: TestDatabase | undefined
      const store = library.storeOn(path, (database) => {
        native ??= database
      })
      await store.schema.install()
      const work = store.transaction(async (tx) => {
        await store.inbox.claim(tx, [claim])
        native?.close()
        await store.inbox.update(tx, [{ ...claim, state: 'processed' }])
      })
      const error = await work.catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code: 'STORE_CLOSED' })
      expect(store.classify(error)).toBe('unavailable')
      expect(await recordOf(store, claim)).toBeUndefined()
      expect((await store.transaction((tx) => store.inbox.claim(tx, [claim]))).existing).toEqual([undefined])
      await store.close()
    })

    it('a damaged file is unavailable rather than a reason to park every message', async () => {
      const store = library.store({ path: import.meta.filename })
      const error = await store.ping().catch((reason: unknown) => reason)
      expect(store.classify(error)).toBe('unavailable')
      await store.close()
    })
  },
)
