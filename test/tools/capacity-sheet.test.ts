import { expect, test } from 'vitest'
import { expectedPage, readHeartRun, renderCapacitySheet, withCapacitySheet } from '../../tools/capacity-sheet.ts'

test('the capacity sheet of the guide is what the page of benchmarks says', () => {
  const { is, shouldBe } = expectedPage()
  expect(is).toBe(shouldBe)
  expect(is).toContain('| `app.on` |')
})

test('the sheet changes with the run, and a run without a row is refused', () => {
  const run = (perSecond: number) => ({
    contestants: ['one-by-one', 'handlers', 'batch', 'duplicates'].map((name) => ({ name, perSecond })),
  })
  const sheet = renderCapacitySheet(run(1_000))
  expect(sheet).toContain('| `app.on` | 1,000 | 500 | 43 million | 8.1 |')
  expect(renderCapacitySheet(run(2_000))).not.toBe(sheet)
  expect(() => renderCapacitySheet({ contestants: [] })).toThrow('have no one-by-one')
  expect(readHeartRun('| `bare` | 1,577 | 1.00 |\n| other | 3 |').contestants).toEqual([
    { name: 'bare', perSecond: 1_577 },
  ])
  expect(withCapacitySheet('a\n<!-- generated: capacity -->\nold\n<!-- end: capacity -->\nb', 'new')).toBe(
    'a\n<!-- generated: capacity -->\n\nnew\n\n<!-- end: capacity -->\nb',
  )
})
