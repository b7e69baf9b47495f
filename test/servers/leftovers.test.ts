import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test, vi } from 'vitest'
import { startPostgres } from './postgres.ts'
import { requireBinaries } from './require.ts'

const postgres = await requireBinaries('postgres')
const pgbouncer = await requireBinaries('pgbouncer')

describe.skipIf(!postgres.available || !pgbouncer.available)('servers leave nothing behind', () => {
  test('after stop', async () => {
    const server = await startPostgres()
    await server.stop()
    expect(await answers(server.url)).toBe(false)
    expect(foldersOf(process.pid)).toEqual([])
  })

  test.for(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('after %s', async (signal) => {
    const run = await startRun('wait')
    run.process.kill(signal)
    await expectNothingLeft(run)
  })

  test.for(['throw', 'return'] as const)('after a run that forgets to stop them and ends with a %s', async (ending) => {
    await expectNothingLeft(await startRun(ending))
  })

  test('and folders whose run lost even its guard are removed by the next run', async () => {
    const run = spawn('true')
    await once(run, 'exit')
    const folder = join(tmpdir(), `justonce-server-postgres-${run.pid}-AbCdEf`)
    mkdirSync(folder)
    const server = await startPostgres()
    await server.stop()
    expect(existsSync(folder)).toBe(false)
  })
})

interface Run {
  readonly process: ChildProcess
  readonly urls: readonly string[]
}

async function startRun(ending: string): Promise<Run> {
  const script = join(import.meta.dirname, 'fixtures/start-and-wait.ts')
  const child = spawn(process.execPath, [script, ending], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [line] = await once(createInterface(child.stdout), 'line')
  return { process: child, urls: JSON.parse(line).urls }
}

async function expectNothingLeft({ process: { pid }, urls }: Run): Promise<void> {
  await vi.waitFor(
    async () => {
      expect(await Promise.all(urls.map(answers))).toEqual([false, false])
      expect(foldersOf(pid)).toEqual([])
    },
    { timeout: 25_000 },
  )
}

async function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

function foldersOf(owner: number | undefined): string[] {
  return readdirSync(tmpdir()).filter((name) => new RegExp(`^justonce-server-[a-z]+-${owner}-`).test(name))
}
