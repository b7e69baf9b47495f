import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTables, openBank } from '../../demo/bank.ts'
import { openDashboard } from '../../demo/dashboard.ts'
import { keepGoing } from '../../demo/keep-going.ts'
import type { Overview } from '../../src/operations/index.ts'

test('after the table payments keep coming, and the dashboard shows them', { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'justonce-live-'))
  const place = { bank: { kind: 'sqlite', path: join(folder, 'bank.db') }, broker: { kind: 'queue' } } as const
  const bank = await openBank(place.bank)
  await createTables(bank)
  await bank.close()
  const board = await openDashboard(place.bank)
  const stopping = new AbortController()
  const compileCache = join(folder, 'compiled')
  const going = keepGoing({ program: 'worker-justonce.ts', place, size: 1, compileCache }, stopping.signal)
  const overview = async () => (await (await fetch(`${board.url}api/overview`)).json()) as Overview
  try {
    await expect.poll(async () => (await overview()).parked.dead, { timeout: 50_000 }).toBeGreaterThan(0)
    await expect.poll(async () => (await overview()).now.processed, { timeout: 50_000 }).toBeGreaterThan(0)
  } finally {
    stopping.abort()
    await going
    await board.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
