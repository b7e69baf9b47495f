import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { findCodeBlocks } from '../../tools/code-blocks.ts'
import { fromRoot, makeScratchFolder } from '../../tools/repo.ts'
import { run } from '../../tools/run.ts'
import { withChannel } from '../rabbitmq/connect.ts'
import { createDatabase } from '../servers/postgres-databases.ts'
import { requireServer } from '../servers/require.ts'

const path = 'docs/start.md'
const blocks = findCodeBlocks({ path, text: readFileSync(fromRoot(path), 'utf8') })
const commands = blocks.filter(({ language, words }) => language === 'sh' && words.includes('run'))
const printed = blocks.find(({ language }) => language === 'text')?.code

/** The files of the page in a folder in which `justonce` is this package, as the page has them up to a step. */
function writeProject(parts: readonly ('sqlite' | 'servers')[]): string {
  const folder = makeScratchFolder('start')
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const { words, code } of blocks) {
    const file = words.find((word) => word.startsWith('file='))?.slice('file='.length)
    if (file === undefined || !parts.includes(words.includes('in=servers') ? 'servers' : 'sqlite')) continue
    writeFileSync(join(folder, file), `${code}\n`)
  }
  return folder
}

function environment(more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const path = [dirname(process.execPath), process.env.PATH].join(delimiter)
  return { ...process.env, PATH: path, NODE_OPTIONS: '--conditions=justonce-source --no-warnings', ...more }
}

async function type(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const line = command.replaceAll('npx justonce', `node ${fromRoot('src/cli/main.ts')}`)
  const { ok, output } = await run('bash', ['-c', line], { cwd, env, timeoutMs: 60_000 })
  expect(ok, output).toBe(true)
  return output
}

/** As the last worker of the page, but it ends when nothing is left instead of after some seconds. */
async function finish(cwd: string, env: NodeJS.ProcessEnv, isEmpty: () => Promise<boolean>): Promise<void> {
  const worker = spawn(process.execPath, ['worker.ts'], { cwd, env, stdio: 'inherit' })
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  onTestFinished(() => void worker.kill('SIGKILL'))
  await expect.poll(isEmpty, { timeout: 60_000, interval: 200 }).toBe(true)
  worker.kill('SIGTERM')
  await ended
}

test('the steps on SQLite end with each order counted once', { timeout: 180_000 }, async () => {
  const folder = writeProject(['sqlite'])
  const env = environment({})
  const [send, kill, status] = commands.map(({ code }) => code) as [string, string, string]
  expect(await type(send, folder, env)).toContain('100 orders')
  expect(await type(kill, folder, env)).toMatch(/^\d+ orders/m)
  const store = sqliteStore({ path: join(folder, 'shop.db') })
  onTestFinished(() => store.close())
  await finish(folder, env, async () => {
    const { ready, hidden } = await store.queue.count('default')
    return ready + hidden === 0
  })
  expect((await type('node total.ts', folder, env)).trim()).toBe(printed)
  expect(await type(status, folder, env)).toContain('0 dead letters')
})

const postgres = await requireServer('postgres')
const rabbitmq = await requireServer('rabbitmq')

describe.skipIf(!postgres.available || !rabbitmq.available)('on servers', () => {
  test('the same steps on Postgres and RabbitMQ end the same way', { timeout: 180_000 }, async () => {
    const folder = writeProject(['sqlite', 'servers'])
    const env = environment({ DATABASE_URL: await createDatabase(postgres.url), RABBITMQ_URL: rabbitmq.url })
    onTestFinished(() => withChannel(rabbitmq.url, async (channel) => void (await channel.deleteQueue('orders'))))
    const [send, kill] = commands.map(({ code }) => code) as [string, string]
    await type(send, folder, env)
    await type(kill, folder, env)
    const waiting = () =>
      withChannel(rabbitmq.url, async (channel) => (await channel.checkQueue('orders')).messageCount)
    // What a worker has in hand is not counted; once it is gone, it is.
    do await finish(folder, env, async () => (await waiting()) === 0)
    while ((await waiting()) > 0)
    expect((await type('node total.ts', folder, env)).trim()).toBe(printed)
  })
})
