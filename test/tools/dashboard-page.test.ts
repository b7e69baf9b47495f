import { expect, test } from 'vitest'
import { findStalePage } from '../../tools/checks/dashboard-page.ts'

test('a page that is not what its sources say is reported', () => {
  expect(findStalePage('a', 'a')).toEqual([])
  expect(findStalePage('a', 'b')).toEqual([expect.stringContaining('npm run dashboard-page')])
})
