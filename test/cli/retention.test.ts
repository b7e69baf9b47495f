import { expect, onTestFinished, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runJustonce } from './run-justonce.ts'

test('justonce retention repair-horizon lowers it to what was removed, and says so', async () => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('app.db')
  const store = sqliteStore({ path })
  onTestFinished(() => store.close())
  await store.schema.install()
  const { horizon } = await store.retention.raise(86_400_000)
  const run = (...args: string[]) =>
    runJustonce(['retention', ...args, '--store', 'test/cli/fixtures/sqlite.ts'], { TEST_SQLITE: path })
  expect(await run('repair-horizon')).toEqual({
    code: 0,
    out: `The horizon was ${horizon?.toISOString()}. Now it is not set: no record has been removed.\n`,
    err: '',
  })
  expect(await store.retention.horizon()).toBeUndefined()
  const mistaken = await run('raise')
  expect([mistaken.code, mistaken.err]).toEqual([
    2,
    expect.stringContaining('what is raise? Give one of: plan, run, repair-horizon'),
  ])
})
