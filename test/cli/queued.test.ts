import { expect, onTestFinished, test } from 'vitest'
import { toQueue } from '../../src/encoding/packed-message.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runHere } from './run-here.ts'

test('a queue of the store is listed page by page, and a list that is cut says so', async () => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('shop.db')
  const store = sqliteStore({ path })
  await store.schema.install()
  const message = { type: 'note.created', key: undefined, body: Uint8Array.of(1), headers: {}, sentAt: new Date() }
  await store.queue.send(
    undefined,
    'notes',
    ['m1', 'm2', 'm3'].map((id) => toQueue({ ...message, id })),
  )
  await store.close()
  const run = (...args: readonly string[]) => runHere([...args, '--store', `sqlite:${path}`])
  const first = JSON.parse((await run('messages', 'queued', 'notes', '--limit', '2', '--json')).out)
  expect(first).toMatchObject([{ id: 'm1' }, { id: 'm2' }])
  const rest = await run('messages', 'queued', 'notes', '--after', first[1].place)
  expect(rest.out).toMatch(/m3 +note.created/)
  expect(rest.out).not.toContain('m2')
  expect(await run('messages', 'queued', 'nothing')).toMatchObject({ code: 1, out: 'Nothing is in nothing.\n' })
  const found = (limit: string) => run('messages', 'find', '--state', 'queued', '--limit', limit)
  expect((await found('2')).out).toContain('These are only the first.')
  expect((await found('4')).out).not.toContain('These are only the first.')
})
