import { expect, test } from 'vitest'
import { fakeClock } from '../testing/fake-clock.ts'
import { Overdue } from './overdue.ts'

test('a batch is overdue when it has run for too long, and until it ends', async () => {
  const clock = fakeClock()
  const overdue = new Overdue(clock, 1_000)
  const noticed: string[] = []
  const ends = new Map<string, () => void>()
  const begin = (name: string): void =>
    void ends.set(
      name,
      overdue.watch(() => void noticed.push(name)),
    )
  begin('quick')
  begin('slow')
  await clock.advance(600)
  begin('later')
  ends.get('quick')?.()
  await clock.advance(399)
  expect(noticed).toEqual([])
  await clock.advance(1)
  expect([noticed, overdue.batches]).toEqual([['slow'], 1])
  await clock.advance(600)
  expect([noticed, overdue.batches]).toEqual([['slow', 'later'], 2])
  for (const end of ends.values()) end()
  expect(overdue.batches).toBe(0)
  await clock.advance(5_000)
  expect(noticed).toHaveLength(2)
})
