import { readFileSync } from 'node:fs'
import { fromRoot } from '../repo.ts'
import type { Check } from './check.ts'

export const featuresPath = 'docs/reference/features.md'

const isTest = /\]\((?:\.\.\/)+(?:test\/|src\/testing\/|src\/[^)]*\.test\.ts|examples\/|tools\/checks\/)[^)]*\)/
const isExplained = /\]\([^)]+\)/

/** How many features were planned. Raise it with each that is added. */
const planned = 57

/** Each feature names a page and a test, or says that it is not there yet. That the links lead somewhere is the business of another check. */
export function findUnprovenFeatures(page: string, last = planned): string[] {
  const rows = page.split('\n').filter((line) => /^\| (?!# \|)/.test(line))
  if (rows.length === 0) return [`${featuresPath} has no features`]
  const cells = rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()))
  const unproven = cells.flatMap(([, numbers, feature = '', explained = '', test = '']) => {
    const unnumbered = numbers === '' ? [`no number for: ${feature}`] : []
    if (explained.startsWith('not there yet')) return unnumbered
    return [
      ...unnumbered,
      ...(isExplained.test(explained) ? [] : [`no page for: ${feature}`]),
      ...(isTest.test(test) ? [] : [`no test for: ${feature}`]),
    ]
  })
  const numbers = cells.flatMap(([, given = '']) => (given === '' ? [] : given.split(',').map(Number)))
  return [...findMissingNumbers(numbers, last), ...unproven].map((problem) => `${featuresPath}: ${problem}`)
}

function findMissingNumbers(numbers: readonly number[], last: number): string[] {
  const all = Array.from({ length: last }, (_, index) => index + 1)
  return [
    ...all.filter((number) => !numbers.includes(number)).map((number) => `nothing has the number ${number}`),
    ...numbers.filter((number) => !all.includes(number)).map((number) => `there is no number ${number}`),
  ]
}

export const featuresCheck: Check = {
  name: 'features',
  async run() {
    return { problems: findUnprovenFeatures(readFileSync(fromRoot(featuresPath), 'utf8')) }
  },
}
