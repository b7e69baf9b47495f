import { expect, test } from 'vitest'
import { findUnprovenFeatures } from '../../tools/checks/features.ts'

const page = (...rows: string[]) =>
  `# Features\n\n| # | feature | page | test |\n|---|---|---|---|\n${rows.map((row) => `| ${row}\n`).join('')}`

test('a feature names a page and a test, or says that it is missing', () => {
  const test = '[races](../../test/crash/races.test.ts)'
  expect(findUnprovenFeatures(page(`1 | Races | [guide](../guides/semantics.md) | ${test} |`), 1)).toEqual([])
  expect(findUnprovenFeatures(page('1 | Flying | not there yet | |'), 1)).toEqual([])
  expect(findUnprovenFeatures(page(`1 | Races | somewhere | ${test} |`), 1)).toEqual([
    expect.stringContaining('no page for: Races'),
  ])
  expect(findUnprovenFeatures(page('1 | Races | [guide](../guides/semantics.md) | we tried it |'), 1)).toEqual([
    expect.stringContaining('no test for: Races'),
  ])
  expect(findUnprovenFeatures('# Features', 1)).toEqual([expect.stringContaining('no features')])
})

test('every number is there, and none that nobody knows', () => {
  const rows = page(
    '1, 3 | Flying | not there yet | |',
    '5 | Diving | not there yet | |',
    ' | Digging | not there yet | |',
  )
  expect(findUnprovenFeatures(rows, 4)).toEqual([
    'docs/reference/features.md: nothing has the number 2',
    'docs/reference/features.md: nothing has the number 4',
    'docs/reference/features.md: there is no number 5',
    'docs/reference/features.md: no number for: Digging',
  ])
})
