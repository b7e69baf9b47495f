import { expect, onTestFinished, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runHere } from './run-here.ts'

test('what changes the records is signed, and says why', async () => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const path = folder.file('shop.db')
  const store = sqliteStore({ path })
  await store.schema.install()
  await store.close()
  const run = async (...args: readonly string[]): Promise<unknown> => {
    const { code, out, err } = await runHere([...args, '--json', '--store', `sqlite:${path}`])
    expect([code, err]).toEqual([0, ''])
    return JSON.parse(out)
  }
  const signed = ['--by', 'ana', '--why', 'the backup of Monday']
  const { horizon } = (await run('retention', 'run', '--days', '7', '--yes', ...signed)) as { readonly horizon: string }
  await run('retention', 'repair-horizon', ...signed)
  await run('new-epoch', ...signed)
  const by = { by: 'ana', why: 'the backup of Monday' }
  expect(await run('audit')).toMatchObject([
    { action: 'new-epoch', ...by, subject: {} },
    { action: 'repair-horizon', ...by, subject: { before: horizon, horizon: null } },
    { action: 'remove-records', ...by, subject: { days: 7, horizon } },
  ])
})
