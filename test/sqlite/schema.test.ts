import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { recordOf } from '../../src/testing/sample-records.ts'
import { libraries, scratchFolder, type TestDatabase } from './open-sqlite.ts'

describe('the schema of the SQLite store', () => {
  let folder: ReturnType<typeof scratchFolder>
  let path: string
  let outside: TestDatabase

  beforeEach(() => {
    folder = scratchFolder()
    path = folder.file('app.db')
    outside = (libraries[0] as (typeof libraries)[0]).open(path)
  })
  afterEach(() => {
    outside.close()
    folder.remove()
  })

  const setVersion = (version: number) => outside.prepare('UPDATE justonce_meta SET version = ?').run(version)

  it('is missing, then installed, then too new for code that does not know it', async () => {
    const store = sqliteStore({ path })
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
    await expect(recordOf(store, { handler: 'h', key: 'm1' })).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
    await expect(store.transaction((tx) => store.inbox.claim(tx, []))).rejects.toMatchObject({ code: 'SCHEMA_MISSING' })
    await store.schema.install()
    await store.schema.check()
    setVersion(999)
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
    await expect(store.schema.install()).rejects.toMatchObject({ code: 'SCHEMA_NEW' })
    await store.close()
  })

  it('is old when a version is behind', async () => {
    const store = sqliteStore({ path })
    outside.exec('CREATE TABLE justonce_meta (version NOT NULL)')
    outside.exec(`INSERT INTO justonce_meta VALUES (0.5)`)
    await expect(store.schema.check()).rejects.toMatchObject({ code: 'SCHEMA_OLD' })
    await store.close()
  })

  it('can be installed by hand from what is printed', async () => {
    const store = sqliteStore({ path })
    outside.exec(store.schema.print())
    await store.schema.check()
    await store.schema.install()
    const { existing } = await store.transaction((tx) =>
      store.inbox.claim(tx, [{ handler: 'h', key: 'm1', fingerprint: undefined }]),
    )
    expect(existing).toEqual([undefined])
    await store.close()
  })
})
