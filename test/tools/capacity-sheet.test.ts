import { expect, test } from 'vitest'
import { expectedPage, readMeasured, renderCapacitySheet, withCapacitySheet } from '../../tools/capacity-sheet.ts'

test('the capacity sheet of the guide is what the page of benchmarks says', () => {
  const { is, shouldBe } = expectedPage()
  expect(is).toBe(shouldBe)
  expect(is).toContain('| `onBatch` |')
})

test('the sheet changes with the run, and a run without a row is refused', () => {
  const names = ['handlers-1-in-flight', 'handlers', 'handlers-key', 'handlers-interleaved', 'batch', 'duplicates']
  const run = (near: number) => names.map((name) => ({ name, near, halfMillisecond: 700 }))
  const sheet = renderCapacitySheet(run(1_000))
  expect(sheet).toContain('| `onBatch` | 1,000 | 700 | 500 | 43 million | 8.1 |')
  expect(renderCapacitySheet(run(2_000))).not.toBe(sheet)
  expect(() => renderCapacitySheet([])).toThrow('have no handlers-1-in-flight')
  const table = '| `bare` | 3,394 | 1.00 | 3,733 | 1.00 | 1,907 | 1.00 |\n| `queue` | 3 | 1.00 |\n| other | 3 |'
  expect(readMeasured(table)).toEqual([{ name: 'bare', near: 3_394, halfMillisecond: 3_733 }])
  expect(withCapacitySheet('a\n<!-- generated: capacity -->\nold\n<!-- end: capacity -->\nb', 'new')).toBe(
    'a\n<!-- generated: capacity -->\n\nnew\n\n<!-- end: capacity -->\nb',
  )
})
