import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { expectedPages, renderCapacitySheet } from '../../tools/capacity-sheet.ts'
import {
  distancesOf,
  type Measured,
  measuredOf,
  readKeptRun,
  renderNetworkTable,
  withPart,
} from '../../tools/measured.ts'
import { fromRoot } from '../../tools/repo.ts'

test('the table of the benchmarks and the capacity sheet are those of the run that is kept', () => {
  for (const { is, shouldBe } of expectedPages()) expect(is).toBe(shouldBe)
  expect(expectedPages().map(({ is }) => /^\| `(?:batch|onBatch)` \|/m.test(is))).toEqual([true, true])
})

const inReadme = [
  ...['batch', 'handlers-interleaved', 'handlers-key', 'handlers', 'handlers-1-in-flight', 'handlers-hot'],
  ...['once-10-in-flight', 'once-result-10-in-flight', 'queue'],
]
const inChoosing = [
  ...['insert-first', 'handlers', 'handlers-key', 'handlers-interleaved', 'batch', 'duplicates', 'queue'],
  ...['handlers-1-in-flight', 'handlers-hot'],
]

/** The rows with a figure for each distance and nothing else. */
function ratiosIn(path: string): readonly string[] {
  const rows = readFileSync(fromRoot(path), 'utf8').matchAll(/^\|[^|]*\|((?: \d+\.\d+ \|){3})$/gm)
  return [...rows].map(([, cells = '']) => cells)
}

test.each([
  ['README.md', inReadme, (ratio: number) => ratio.toPrecision(2)],
  ['README.zh-CN.md', inReadme, (ratio: number) => ratio.toPrecision(2)],
  ['docs/guides/choosing.md', inChoosing, (ratio: number) => ratio.toFixed(2)],
  ['docs/zh-CN/choosing.md', inChoosing, (ratio: number) => ratio.toFixed(2)],
])('%s has the ratios of the run that is kept', (path, names, spelt) => {
  const run = readKeptRun()
  const cells = (name: string) => distancesOf(run).map((rttMs) => ` ${spelt(measuredOf(run, name, rttMs).ratio)} |`)
  expect(ratiosIn(path)).toEqual(names.map((name) => cells(name).join('')))
})

test('what is written changes with the run, and a run without a row is refused', () => {
  const names = ['handlers-1-in-flight', 'handlers', 'handlers-key', 'handlers-interleaved', 'batch', 'duplicates']
  const run = (perSecond: number): readonly Measured[] =>
    names.flatMap((name) => [0, 0.5].map((rttMs) => ({ name, rttMs, perSecond: perSecond - 600 * rttMs, ratio: 1.5 })))
  const sheet = renderCapacitySheet(run(1_000))
  expect(sheet).toContain('| `onBatch` | 1,000 | 700 | 500 | 43 million | 8.1 |')
  expect(renderCapacitySheet(run(2_000))).not.toBe(sheet)
  expect(() => renderCapacitySheet([])).toThrow('have no handlers-1-in-flight')
  expect(renderNetworkTable(run(1_000))).toContain('| `batch` | 1,000 | 1.50 | 700 | 1.50 |')
  expect(withPart('a\n<!-- generated: capacity -->\nold\n<!-- end: capacity -->\nb', 'capacity', 'new')).toBe(
    'a\n<!-- generated: capacity -->\n\nnew\n\n<!-- end: capacity -->\nb',
  )
})
