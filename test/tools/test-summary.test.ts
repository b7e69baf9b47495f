import { expect, test } from 'vitest'
import { countTests, summaryLine } from '../../tools/test-summary.ts'

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
})

test('counts tests by status', () => {
  const report = { testResults: [file('passed', 'passed', 'skipped', 'todo'), file('failed', 'failed', 'passed')] }
  expect(countTests(report, 1)).toEqual({ passed: 2, failed: 1, skipped: 2 })
})

test('a file that failed without a failed test is one failure', () => {
  expect(countTests({ testResults: [file('failed'), file('failed', 'skipped')] }, 1)).toEqual({
    passed: 0,
    failed: 2,
    skipped: 1,
  })
})

test('a failed run never reports zero failures', () => {
  expect(countTests({ testResults: [file('passed', 'passed')] }, 1).failed).toBe(1)
  expect(countTests(undefined, 1).failed).toBe(1)
})

test('skips are mentioned only when there are some', () => {
  expect(summaryLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
  expect(summaryLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
})
