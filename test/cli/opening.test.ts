import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { justonce } from '../../src/index.ts'
import { memoryTransport } from '../../src/memory.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runHere } from './run-here.ts'
import { runJustonce } from './run-justonce.ts'

vi.setConfig({ testTimeout: 60_000 })

function folder() {
  const made = scratchFolder()
  onTestFinished(() => made.remove())
  return made
}

test('a name that is misspelt is said to be, and no empty file is left behind; migrate makes one', async () => {
  const path = folder().file('shpo.db')
  for (const command of ['status', 'doctor', 'migrate --status', 'new-epoch', 'dead-letters list']) {
    const { code, err } = await runHere([...command.split(' '), '--store', `sqlite:${path}`])
    expect([command, code, existsSync(path)]).toEqual([command, 2, false])
    expect(err).toContain(`there is no file ${path}`)
  }
  expect((await runHere(['migrate', '--print', '--store', `sqlite:${path}`])).code).toBe(0)
  expect(existsSync(path)).toBe(false)
  expect((await runHere(['migrate', '--store', `sqlite:${path}`])).code).toBe(0)
  expect((await runHere(['status', '--store', `sqlite:${path}`])).code).toBe(0)
})

test.for([
  ['postgres://localhost:port/shop', 'Invalid URL'],
  ['mysql://localhost:port/shop', 'Invalid URL'],
  ['redis://localhost:1', 'ECONNREFUSED'],
  ['postgres://user:secret-word@localhost:1/shop', 'ECONNREFUSED'],
  ['mysql://user:secret-word@localhost:1/shop', 'ECONNREFUSED'],
] as const)(
  '%s: one line says what is wrong with it, without a password, and the command ends',
  async ([url, said]) => {
    const { code, err } = await runHere(['status', '--store', url])
    expect(code).toBe(2)
    expect(err).toContain(said)
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    expect(err).not.toContain('secret-word')
  },
)

test('what would not be heeded is refused: another prefix than that of the config', async () => {
  const config = fileURLToPath(new URL('./fixtures/sqlite.ts', import.meta.url))
  const { code, err } = await runHere(['status', '--config', config, '--prefix', 'other_'])
  expect([code, err]).toEqual([2, expect.stringContaining('says them itself')])
})

test('the config of a folder may be a CommonJS file', async () => {
  const made = folder()
  const store = fileURLToPath(new URL('../../src/stores/sqlite/index.ts', import.meta.url))
  writeFileSync(
    made.file('justonce.config.cjs'),
    `const { sqliteStore } = require(${JSON.stringify(store)})\nmodule.exports = sqliteStore({ path: ${JSON.stringify(made.file('app.db'))} })\n`,
  )
  expect((await runJustonce(['migrate'], {}, made.file(''))).code).toBe(0)
})

test('JUSTONCE_STORE comes before the config of the folder, and after what is given', async () => {
  const made = folder()
  const [ours, owners] = [made.file('app.db'), made.file('owner.db')]
  for (const path of [ours, owners]) await runHere(['migrate', '--store', `sqlite:${path}`])
  await runHere(['handlers', 'pause', 'by-owner', '--store', `sqlite:${owners}`])
  await runHere(['handlers', 'pause', 'by-app', '--store', `sqlite:${ours}`])
  const store = fileURLToPath(new URL('../../src/stores/sqlite/index.ts', import.meta.url))
  writeFileSync(
    made.file('justonce.config.ts'),
    `import { sqliteStore } from ${JSON.stringify(store)}\nexport default sqliteStore({ path: ${JSON.stringify(ours)} })\n`,
  )
  const env = { JUSTONCE_STORE: `sqlite:${owners}` }
  const cwd = made.file('')
  const list = async (args: readonly string[], given: Readonly<Record<string, string>> = env) =>
    (await runJustonce(['handlers', 'list', ...args], given, cwd)).out
  expect(await list([], {})).toContain('by-app')
  expect(await list([])).toContain('by-owner')
  expect(await list(['--config', 'justonce.config.ts'])).toContain('by-app')
  expect(await list(['--store', `sqlite:${ours}`])).toContain('by-app')
})

test('JSON brings nothing to a terminal that it would act on, and says the same', async () => {
  const path = folder().file('shop.db')
  const store = sqliteStore({ path })
  await store.schema.install()
  const app = justonce({ store, log: false })
  const hostile = 'red\u009b31m\u007f\u202e'
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, () => {
    throw new Error(hostile)
  })
  await app.deliver({ id: 'm1', type: 'note.created', body: { text: hostile } })
  await store.close()
  const { out } = await runHere(['dead-letters', 'list', '--json', '--store', `sqlite:${path}`])
  expect(out).not.toMatch(/[\u007f-\u009f\u202e]/)
  expect(JSON.parse(out)).toMatchObject([{ body: { text: hostile } }])
})

test('alerts that fire are in the status, and a redrive that nobody would carry out says so', async () => {
  const path = folder().file('shop.db')
  const store = sqliteStore({ path })
  const alerts = [{ when: 'dead-letters', over: 0, notify: 'log' }] as const
  const app = justonce({ name: 'shop', store, from: memoryTransport(), alerts, log: false })
  app.on('note.created', { name: 'tag-note', retry: { attempts: 1 } }, () => {
    throw new Error('no')
  })
  const fired = Promise.withResolvers<void>()
  app.events.listen(({ kind }) => kind === 'alert' && fired.resolve())
  await store.schema.install()
  await app.deliver({ id: 'm1', type: 'note.created', body: {} })
  await app.start()
  await fired.promise
  const where = ['--store', `sqlite:${path}`]
  expect((await runHere(['status', ...where])).out).toMatch(/ALERT .*\ndead-letters of shop\s+firing\s+1\s+0/)
  await app.stop()
  await store.close()
  const redriven = await runHere(['dead-letters', 'redrive', '--all', ...where])
  expect([redriven.code, redriven.err]).toEqual([0, expect.stringContaining('No process that could carry it out')])
  expect((await runHere(['messages', 'show', 'm2', ...where])).out).toContain('Nothing is known of m2')
})
