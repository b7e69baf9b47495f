import { expect, test } from 'vitest'
import '../crash/long-tests.ts'
import { requireBinaries } from '../servers/require.ts'
import { runChain, runRestoredChain } from './chain.ts'
import { type PlaceName, places } from './places.ts'

const missing = new Set<PlaceName>()
for (const [name, { needs }] of Object.entries(places))
  for (const server of needs) if (!(await requireBinaries(server)).available) missing.add(name as PlaceName)

const all = Object.keys(places) as PlaceName[]

test.skipIf(missing.size > 0).concurrent.each(all)(
  'A to B to C on %s, processes and servers killed at random: one effect of each message in each service',
  async (place) => {
    const result = await runChain({ place, messages: 60, strikes: 5, processes: 1, seed: 20_261_118 })
    expect(result.wrong).toEqual([])
    expect(result.sent).toBe(60)
    expect(Object.keys(result.killed).sort()).toEqual(['b', 'c', ...places[place].needs].sort())
  },
)

// In the other place both services share a database, which has no backup.
test.skipIf(missing.size > 0).each(all.filter((place) => place !== 'sqlite queue'))(
  'A to B to C on %s, the database of B goes back while B runs, and A sends again: one effect of each message in each service',
  async (place) => {
    const result = await runRestoredChain({ place, messages: 60, processes: 2 })
    expect(result.wrong).toEqual([])
    expect(result.sent).toBe(60)
  },
)
