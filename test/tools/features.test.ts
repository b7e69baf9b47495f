import { expect, test } from 'vitest'
import { findUnprovenFeatures } from '../../tools/checks/features.ts'

const page = (row: string) => `# Features\n\n| feature | page | test |\n|---|---|---|\n${row}\n`

test('a feature names a page and a test, or says that it is missing', () => {
  const test = '[races](../../test/crash/races.test.ts)'
  expect(findUnprovenFeatures(page(`| Races | [guide](../guides/semantics.md) | ${test} |`))).toEqual([])
  expect(findUnprovenFeatures(page('| Flying | not there yet | |'))).toEqual([])
  expect(findUnprovenFeatures(page(`| Races | somewhere | ${test} |`))).toEqual([
    expect.stringContaining('no page for: Races'),
  ])
  expect(findUnprovenFeatures(page('| Races | [guide](../guides/semantics.md) | we tried it |'))).toEqual([
    expect.stringContaining('no test for: Races'),
  ])
  expect(findUnprovenFeatures('# Features')).toEqual([expect.stringContaining('no features')])
})
