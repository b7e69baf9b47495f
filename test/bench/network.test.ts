import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { missingCompiler } from '../../bench/network/delay-line.ts'
import type { Row } from '../../bench/suite.ts'
import { fromRoot } from '../../tools/repo.ts'
import { reasonToSkip } from '../servers/plan.ts'
import { requireBinaries } from '../servers/require.ts'
import { scratchFolder } from '../sqlite/open-sqlite.ts'

const postgres = await requireBinaries('postgres')
const missing = missingCompiler()
if (missing !== undefined) console.warn(`SKIPPED: ${reasonToSkip(missing, process.env)}`)

const figure = expect.any(Number)

async function benchNetwork() {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const json = folder.file('rows.json')
  const args = ['network', '--quick', '--rtt', '0.5', '--messages', '16', '--json', json]
  await promisify(execFile)(process.execPath, [fromRoot('bench/main.ts'), ...args])
  return JSON.parse(readFileSync(json, 'utf8'))
}

describe.skipIf(!postgres.available || missing !== undefined)('bench -- network', () => {
  test('everything is measured, and correct', async () => {
    const { rows, latency, idle } = await benchNetwork()
    for (const row of rows) expect(row).toMatchObject({ rttMs: 0.5, perSecond: figure, ratio: figure, correct: true })
    const cpu = rows.filter(({ name }: Row) => name.startsWith('bare')).map((row: Row) => row.cpu)
    for (const each of cpu) expect(each).toEqual({ here: figure, server: figure })
    expect(Math.max(...cpu.map((each: Row['cpu']) => each?.here))).toBeGreaterThan(0)
    const withGoals = rows.filter(({ goal }: Row) => goal !== undefined)
    expect(Object.fromEntries(withGoals.map(({ name, goal }: Row) => [name, goal?.atLeast]))).toEqual({
      handlers: 1,
      'handlers-800-in-flight': 1,
      'handlers-10-in-flight': 1,
      'handlers-key': 1.5,
      'handlers-key-800-in-flight': 1.5,
      'handlers-key-hot': 1,
      'handlers-interleaved': 7,
      'handlers-interleaved-800-in-flight': 7,
      'handlers-hot': 1,
      'handlers-hot-10-in-flight': 1,
      batch: 15,
      'batch-800-in-flight': 15,
      duplicates: 50,
      'lone-1-in-flight': 0.95,
      'once-10-in-flight': 0.98,
      'once-1-in-flight': 0.98,
      'once-result-10-in-flight': 0.98,
    })
    expect(latency).toHaveLength(12)
    for (const row of latency) expect(row).toMatchObject({ rttMs: 0.5, p50Ms: figure, p99Ms: figure, correct: true })
    expect(idle).toEqual(
      ['idle', 'idle-queue'].map((name) => ({ name, cpuPercent: figure, statementsPerSecond: figure })),
    )
  }, 300_000)
})
