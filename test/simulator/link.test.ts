import { expect, test } from 'vitest'
import { Faults } from './faults.ts'
import { Link } from './link.ts'
import { SimProcess } from './process.ts'
import { Scheduler } from './scheduler.ts'

test.each([
  { frozenAt: 0, seed: 1 },
  { frozenAt: 1, seed: 2 },
  { frozenAt: 2, seed: 3 },
])('a process that is frozen at request $frozenAt of a connection sends what follows behind it', async (given) => {
  const scheduler = new Scheduler(given.seed)
  const process = new SimProcess('p0', scheduler, 0)
  const faults = new Faults([{ nth: given.frozenAt, fault: 'pause-before' }])
  const link = new Link(process, { scheduler, faults })
  const seen: number[] = []
  const answered: number[] = []
  // Nobody waits for an answer before the next one.
  for (const request of [0, 1, 2, 3]) {
    void link.call('query', () => void seen.push(request)).then(() => answered.push(request))
  }
  await scheduler.run(() => answered.length === 4)
  expect(seen).toEqual([0, 1, 2, 3])
  expect(answered).toEqual([0, 1, 2, 3])
})
