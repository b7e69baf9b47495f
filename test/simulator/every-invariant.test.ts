import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { brokenOutgoing } from './museum/broken-outgoing.ts'
import { brokenReservations } from './museum/broken-reservations.ts'
import { museum } from './museum/index.ts'

/** An invariant that has never caught anything may be one that cannot. */
test.each([
  {
    simulator: 'of the engine',
    files: ['invariants', 'inside-invariants', 'intent-invariants', 'retained-intents', 'retention-watch'],
    exhibits: museum,
  },
  { simulator: 'of what leaves', files: ['outgoing/invariants'], exhibits: brokenOutgoing },
  { simulator: 'of reservations', files: ['reservations/invariants'], exhibits: brokenReservations },
])('every kind of damage that the simulator $simulator knows has an exhibit that shows it', ({ files, exhibits }) => {
  const kinds = new Set(files.flatMap((file) => kindsIn(`${import.meta.dirname}/${file}.ts`)))
  const shown = new Set<string>(exhibits.map(({ caughtAs }) => caughtAs))
  expect(kinds.size).toBeGreaterThan(5)
  expect([...kinds].filter((kind) => !shown.has(kind))).toEqual([])
})

/** What violations begin with. */
function kindsIn(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/[`']([A-Z]+(?: [A-Z]+)*): /g)].map(([, kind]) => kind as string)
}
