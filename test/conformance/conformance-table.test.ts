import { expect, test } from 'vitest'
import { conformanceTable } from './conformance-table.ts'

test('the table counts what each driver kept, names failures and gives the reasons of skips', () => {
  const table = conformanceTable([
    { driver: 'memory', case: 'claim: one', outcome: 'passed' },
    { driver: 'memory', case: 'claim: two', outcome: 'skipped: it has one connection' },
    { driver: 'memory', case: 'queue: one', outcome: 'passed' },
    { driver: 'other', case: 'claim: one', outcome: 'failed' },
    { driver: 'other', case: 'claim: two', outcome: 'passed' },
  ])
  expect(table.split('\n')).toEqual([
    '       memory  other',
    'claim  1/2     1/2 FAILED',
    'queue  1/1     –',
    '',
    'skipped',
    '  1 × memory: it has one connection',
  ])
})
