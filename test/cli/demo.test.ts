import { readdirSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { scratchFolder } from '../sqlite/open-sqlite.ts'
import { runJustonce } from './run-justonce.ts'

test('the demonstration kills its worker, loses and doubles nothing, and leaves nothing behind', async () => {
  const folder = scratchFolder()
  onTestFinished(() => folder.remove())
  const TMPDIR = folder.file('')
  const { code, out } = await runJustonce(['demo', '--messages', '60', '--kills', '1', '--json'], { TMPDIR })
  const result = JSON.parse(out)
  expect(result).toEqual({ payments: 60, deliveries: 75, killed: 1, booked: 59, dead: 1, lost: 0, doubled: 0 })
  expect([code, readdirSync(TMPDIR)]).toEqual([0, []])
}, 60_000)
