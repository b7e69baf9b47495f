import { readFileSync } from 'node:fs'
import { fromRoot } from '../repo.ts'
import type { Check } from './check.ts'

export const featuresPath = 'docs/reference/features.md'

const isTest = /\]\((?:\.\.\/)+(?:test\/|src\/testing\/|src\/[^)]*\.test\.ts|examples\/|tools\/checks\/)[^)]*\)/
const isExplained = /\]\([^)]+\)/

/** Each feature names a page and a test, or says that it is not there yet. That the links lead somewhere is the business of another check. */
export function findUnprovenFeatures(page: string): string[] {
  const rows = page.split('\n').filter((line) => /^\| (?!feature \|)/.test(line))
  if (rows.length === 0) return [`${featuresPath} has no features`]
  return rows.flatMap((row) => {
    const [, feature = '', explained = '', test = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    if (explained.startsWith('not there yet')) return []
    return [
      ...(isExplained.test(explained) ? [] : [`${featuresPath}: no page for: ${feature}`]),
      ...(isTest.test(test) ? [] : [`${featuresPath}: no test for: ${feature}`]),
    ]
  })
}

export const featuresCheck: Check = {
  name: 'features',
  async run() {
    return { problems: findUnprovenFeatures(readFileSync(fromRoot(featuresPath), 'utf8')) }
  },
}
