import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type JustonceEvent, justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { countParked } from '../../src/operations/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'

let folder: ReturnType<typeof scratchFolder>
beforeEach(() => {
  folder = scratchFolder()
})
afterEach(() => folder.remove())

/** The real engine on a SQLite file, whose native connections a test can reach past the store. */
function openApp(schema: 'install' | 'check' = 'install') {
  const natives: DatabaseSync[] = []
  const open = (path: string): DatabaseSync => {
    const native = new DatabaseSync(path)
    natives.push(native)
    return native
  }
  const store = sqliteStore({ path: folder.file('app.db'), open })
  const transport = memoryTransport()
  const clock = fakeClock()
  const app = justonce({ store, transport, clock, schema })
  const events: JustonceEvent[] = []
  app.events.listen((event) => events.push(event))
  app.on('note.created', 'tag-note', ({ body }, { tx }) => {
    tx.prepare('INSERT INTO effects (content) VALUES (?)').run(new Uint8Array((body as { bytes: number }).bytes))
  })
  const effects = () => {
    const reader = new DatabaseSync(folder.file('app.db'))
    const { count } = reader.prepare('SELECT count(*) AS count FROM effects').get() as { count: number }
    reader.close()
    return count
  }
  return { app, store, transport, clock, events, natives, effects }
}

const notes = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `m${index}`, type: 'note.created', body: { bytes } }))

test('a full disk: nothing is acknowledged or parked, and when there is room all take effect once', async () => {
  const { app, store, transport, clock, events, natives, effects } = openApp()
  await store.schema.install()
  const [native] = natives as [DatabaseSync]
  native.exec('CREATE TABLE effects (content blob); PRAGMA max_page_count = 60')
  transport.send(notes(8, 64 * 1024))
  await app.start()
  await clock.advance(30_000)
  expect(transport.settled()).toEqual([])
  expect(transport.unsettled()).toHaveLength(8)
  expect(effects()).toBe(0)
  expect(await countParked(store)).toBe(0)
  const down = events.find(({ kind }) => kind === 'store-down') as { error: Error } | undefined
  expect(down?.error).toMatchObject({ code: 'STORE_FULL', message: expect.stringContaining('Make room') })

  native.exec('PRAGMA max_page_count = 100000')
  await clock.advance(30_000)
  await transport.idle()
  await app.stop()
  expect(effects()).toBe(8)
  expect(await countParked(store)).toBe(0)
  await store.close()
})

test('a store that was closed: nothing is acknowledged, and stopping gives everything back', async () => {
  const { app, store, transport, clock, events, natives } = openApp()
  await store.schema.install()
  natives[0]?.exec('CREATE TABLE effects (content blob)')
  await app.start()
  await clock.advance(0)
  await store.close()
  transport.send(notes(3, 1))
  await clock.advance(10_000)
  expect(transport.settled()).toEqual([])
  expect(transport.unsettled()).toHaveLength(3)
  const down = events.find(({ kind }) => kind === 'store-down') as { error: Error } | undefined
  expect(down?.error).toMatchObject({
    code: 'STORE_CLOSED',
    message: expect.stringContaining('Close the store after app.stop() has resolved, not before.'),
  })
  await app.stop()
  expect(transport.pending()).toHaveLength(3)
})

test.each([
  ['not there', 'check' as const, undefined, 'SCHEMA_MISSING', 'store.schema.install()'],
  ['newer than the code', 'install' as const, 99, 'SCHEMA_NEW', 'Deploy the newer justonce'],
  ['newer than the code', 'check' as const, 99, 'SCHEMA_NEW', 'Deploy the newer justonce'],
])('tables that are %s (%s): the app does not start, and takes nothing', async (_, schema, version, code, fix) => {
  const { app, store, transport, clock, natives } = openApp(schema)
  if (version !== undefined) {
    await store.schema.install()
    natives[0]?.exec(`UPDATE justonce_meta SET version = ${version}`)
  }
  transport.send(notes(2, 1))
  await expect(app.start()).rejects.toMatchObject({ code, message: expect.stringContaining(fix) })
  await clock.advance(10_000)
  expect(transport.pending()).toHaveLength(2)
  await store.close()
})
