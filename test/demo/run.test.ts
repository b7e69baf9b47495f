import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Figures } from '../../demo/tally.ts'
import { createDatabase, withClient } from '../servers/postgres-databases.ts'
import { requireBinaries, requireServer } from '../servers/require.ts'

const demo = fileURLToPath(new URL('../../demo/main.ts', import.meta.url))
const small = ['--messages', '150', '--kills', '3', '--seed', '1', '--workers', '2']
const postgres = await requireServer('postgres')
const brokers = [
  { broker: 'rabbitmq', ...(await requireBinaries('rabbitmq')) },
  { broker: 'kafka', ...(await requireBinaries('kafka')) },
]

let folder: string
let running: ChildProcess | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'justonce-demo-test-'))
  // A broker that is started there may run as a user of its own.
  chmodSync(folder, 0o711)
})

afterEach(() => {
  running?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Runs the demo with its databases in our folder. */
function start(...args: string[]) {
  return startIn({}, ...args)
}

function startIn(environment: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, [demo, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: folder, NODE_OPTIONS: '', ...environment },
  })
  running = child
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
  return { child, ended }
}

function figuresIn(stdout: string): { justonce: Figures; naive: Figures } {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) as string)
}

function expectSmallRun({ justonce, naive }: { justonce: Figures; naive: Figures }): void {
  const { deliveries } = justonce
  expect(deliveries).toBeGreaterThan(150)
  expect(justonce).toEqual({
    messages: 150,
    deliveries,
    duplicates: deliveries - 150,
    kills: 3,
    effects: 150,
    lost: 0,
    doubled: 0,
  })
  expect(naive).toMatchObject({ messages: 150, deliveries, duplicates: 0, kills: 3, lost: 0 })
  expect(naive.doubled).toBeGreaterThanOrEqual(deliveries - 150)
  expect(naive.effects).toBe(150 + naive.doubled)
}

/** Resolves to the file of one side as soon as somebody has been credited in it. */
async function untilCredited(side: 'justonce' | 'naive'): Promise<DatabaseSync> {
  for (;;) {
    const [run] = readdirSync(folder)
    const path = join(folder, run ?? '', `${side}.db`)
    if (existsSync(path)) {
      const database = new DatabaseSync(path, { timeout: 10_000 })
      try {
        if (database.prepare('SELECT 1 FROM ledger').get() !== undefined) return database
      } catch {
        // The table is not there yet.
      }
      database.close()
    }
    await pause(10)
  }
}

/** A worker gets the place of its database in its command line. */
function processesThatName(path: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(path)
    } catch {
      return false // It has ended while we looked.
    }
  })
}

describe('the demo', { timeout: 120_000 }, () => {
  test('ends with justonce exact, naive damaged, and nothing left behind', async () => {
    const { code, stdout, stderr } = await start(...small, '--json').ended
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expectSmallRun(figuresIn(stdout))
    expect(stdout).toContain('justonce credited every payment exactly once.')
    expect(stdout).not.toContain('\x1b[')
    expect(readdirSync(folder)).toEqual([])
  })

  test('fails when justonce has lost an effect', async () => {
    const { ended } = start(...small, '--json')
    const database = await untilCredited('justonce')
    database.exec('DELETE FROM ledger WHERE rowid = (SELECT min(rowid) FROM ledger)')
    database.close()
    const { code, stdout } = await ended
    expect(figuresIn(stdout).justonce).toMatchObject({ effects: 149, lost: 1, doubled: 0 })
    expect(code).toBe(1)
  })

  test('keeps the databases when asked, and says where they are', async () => {
    const { code, stdout } = await start('--messages', '20', '--kills', '0', '--workers', '1', '--keep').ended
    expect(code).toBe(0)
    const path = /\S+justonce\.db/.exec(stdout)?.[0] as string
    const database = new DatabaseSync(path, { readOnly: true })
    expect(database.prepare('SELECT count(*) AS rows FROM ledger').get()).toEqual({ rows: 20 })
    database.close()
  })

  test('ends its workers and removes its files when interrupted', async () => {
    const { child, ended } = start('--kills', '0')
    const database = await untilCredited('naive')
    database.close()
    expect(processesThatName(folder)).not.toEqual([])
    child.kill('SIGINT')
    expect((await ended).code).toBe(130)
    expect(processesThatName(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  test('refuses what it does not understand', async () => {
    const { code, stderr, stdout } = await start('--mesages', '5').ended
    expect(code).toBe(2)
    expect(stderr).toContain('Did you mean --messages?')
    expect(stdout).toBe('')
  })

  test('explains its flags', async () => {
    const { code, stdout } = await start('--help').ended
    expect(code).toBe(0)
    for (const flag of ['messages', 'kills', 'seed', 'workers', 'postgres', 'broker', 'keep', 'exit', 'json']) {
      expect(stdout).toContain(`--${flag}`)
    }
  })

  test.skipIf(!postgres.available)('does the same on Postgres, and leaves no schema behind', async () => {
    const url = await createDatabase(postgres.url)
    const { code, stdout, stderr } = await start(...small, '--json', '--postgres', url).ended
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expectSmallRun(figuresIn(stdout))
    const left = await withClient(url, (client) =>
      client.query(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'justonce%'`),
    )
    expect(left.rows).toEqual([])
  })

  describe.each(brokers)('with $broker', ({ broker, available }) => {
    test.skipIf(!available)('does the same, and leaves no server behind', async () => {
      const { code, stdout, stderr } = await start(...small, '--json', '--broker', broker).ended
      expect(stderr).toBe('')
      expect(code).toBe(0)
      expectSmallRun(figuresIn(stdout))
      expect(stdout).toContain(`npm start -- --broker ${broker} --seed 1`)
      expect(processesThatName(folder)).toEqual([])
      expect(readdirSync(folder)).toEqual([])
    })
  })

  test('says how to get a broker that is not installed', async () => {
    const { code, stdout, stderr } = await startIn({ PATH: folder }, '--broker', 'kafka').ended
    expect(code).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^Kafka is not installed; .* apt-get install .*\.\n$/)
  })
})
