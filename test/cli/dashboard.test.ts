import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { runHere } from './run-here.ts'

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

let url: string

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-dashboard-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const store = sqliteStore({ path: join(folder, 'shop.db') })
  await store.schema.install()
  await store.close()
  url = `sqlite:${join(folder, 'shop.db')}`
})

test('justonce dashboard serves the page until it is interrupted', async () => {
  const token = 'a-token-that-is-long-enough'
  const child = spawn(process.execPath, [main, 'dashboard', '--store', url, '--port', '0', '--json'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, JUSTONCE_DASHBOARD_TOKEN: token },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
  const { url: page } = JSON.parse(said) as { url: string }
  expect(page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
  expect(said).not.toContain(token)
  expect(await (await fetch(page)).text()).toContain('<title>justonce</title>')
  expect((await fetch(`${page}api/session`)).status).toBe(401)
  expect((await fetch(`${page}api/session`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('it refuses what others could reach without a token, a short token, and a port that is taken', async () => {
  const dashboard = ['dashboard', '--store', url]
  expect(await runHere([...dashboard, '--host', '0.0.0.0'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('give --token'),
  })
  expect(await runHere([...dashboard, '--token', 'short', '--port', '0'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('at least 16 characters'),
  })
  expect(await runHere([...dashboard, '--port', 'many'])).toMatchObject({ code: 2 })
  expect(await runHere([...dashboard, '--port', '70000'])).toMatchObject({ code: 2 })
})
