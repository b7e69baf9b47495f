import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runJustonce } from './run-justonce.ts'

const args = ['new-epoch', '--store', 'test/cli/fixtures/sqlite.ts']

function file(): string {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  return folder.file('app.db')
}

test('justonce new-epoch changes the epoch that claims answer with, and leaves the records alone', async () => {
  const path = file()
  const store = sqliteStore({ path })
  onTestFinished(() => store.close())
  await store.schema.install()
  const claim = () =>
    store.transaction((tx) => store.inbox.claim(tx, [{ handler: 'tag-note', key: 'm1', fingerprint: undefined }]))
  const { epoch } = await claim()
  expect((await claim()).epoch).toBe(epoch)
  expect(await runJustonce(args, { TEST_SQLITE: path })).toEqual({
    code: 0,
    out: 'The sqlite store has a new epoch: caches no longer trust what they knew before.\n',
    err: '',
  })
  const after = await claim()
  expect(after.epoch).not.toBe(epoch)
  expect(after.existing[0]?.state).toBe('processed')
})

test('justonce new-epoch says what is wrong', async () => {
  const path = file()
  new DatabaseSync(path).close()
  const missing = await runJustonce(args, { TEST_SQLITE: path })
  expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('There is no justonce_meta table')])
  const silent = await runJustonce(['new-epoch'])
  expect([silent.code, silent.err]).toEqual([2, expect.stringContaining('which store?')])
})
