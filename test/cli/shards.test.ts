import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { type Ended, runJustonce } from './run-justonce.ts'

vi.setConfig({ testTimeout: 120_000 })
const config = fileURLToPath(new URL('./fixtures/sharded.ts', import.meta.url))

/** One dead letter in eu, two in us. */
async function openShards() {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  for (const [shard, ids] of Object.entries({ eu: ['e1'], us: ['u1', 'u2'] })) {
    const store = sqliteStore({ path: folder.file(`${shard}.db`) })
    await store.schema.install()
    const app = justonce({ store, log: false })
    app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, () => {
      throw new Error('no stock')
    })
    for (const id of ids) await app.deliver({ id, type: 'note.created', body: {} })
    await store.close()
  }
  const env = { TEST_FOLDER: folder.file('') }
  const run = (...args: readonly string[]): Promise<Ended> => runJustonce([...args, '--config', config], env)
  return { folder, run, json: async (...args: readonly string[]) => JSON.parse((await run(...args, '--json')).out) }
}

test('a command does what it does in every shard, or in the one that is named', async () => {
  const { run, json } = await openShards()
  const listed = await run('dead-letters', 'list')
  expect([listed.code, listed.err]).toEqual([0, ''])
  expect(listed.out).toMatch(/^eu:\n.*e1.*\nus:\n.*u1.*u2/s)
  expect(await json('dead-letters', 'list')).toMatchObject({ eu: [{ key: 'e1' }], us: [{ key: 'u1' }, { key: 'u2' }] })
  expect(await json('status')).toMatchObject({
    eu: { overview: { parked: { dead: 1 } } },
    us: { overview: { parked: { dead: 2 } } },
  })
  expect((await run('status', '--shard', 'us')).out).toContain('2 dead letters')
  expect(await run('dead-letters', 'discard', '--all', '--yes', '--shard', 'us')).toMatchObject({
    code: 0,
    out: '2 dead letters discarded.\n',
  })
  expect(await json('dead-letters', 'redrive', '--all', '--yes')).toMatchObject({ eu: { selected: 1 }, us: {} })
})

test('a shard that cannot be read is reported, and the others answer', async () => {
  const { folder, run, json } = await openShards()
  writeFileSync(
    folder.file('eu.db'),
    'this is no database, whatever its name says; it is only a text that is long enough',
  )
  const listed = await run('dead-letters', 'list')
  expect(listed.code).toBe(2)
  expect(listed.err).toMatch(/^eu: /)
  expect(listed.out).toContain('u2')
  expect(await json('dead-letters', 'list')).toMatchObject({ eu: { error: expect.any(String) }, us: [{}, {}] })
})

test('a shard that there is not, and a shard of what has none, are refused with what there is', async () => {
  const { folder, run } = await openShards()
  expect(await run('status', '--shard', 'mars')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Give one of: eu, us'),
  })
  expect(await runJustonce(['status', '--store', `sqlite:${folder.file('us.db')}`, '--shard', 'us'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--shard goes with a config'),
  })
})
