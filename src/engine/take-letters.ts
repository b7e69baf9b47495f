import type { Engine } from './engine.ts'
import type { Batch } from './process-batch.ts'
import type { Outcomes, Refusal } from './work.ts'

/**
 * Locks the parked rows that works of a batch come from: whoever has a row locked has all of its message. What somebody
 * else has by now is left to them. Resolves to the refusals that are still ours.
 */
export async function takeLetters<Tx>(
  { store }: Engine<Tx>,
  tx: Tx,
  { works, refusals }: Batch<Tx>,
  outcomes: Outcomes<Tx>,
): Promise<readonly Refusal[]> {
  const letters = [
    ...works.flatMap(({ origin }) => origin.letter ?? []),
    ...refusals.flatMap(({ letter }) => letter ?? []),
  ]
  if (letters.length === 0) return refusals
  const taken = await store.parking.take(tx, letters)
  const lost = new Set(letters.filter((_, index) => taken[index] !== true))
  for (const { origin, runs } of works) {
    if (origin.letter !== undefined && lost.has(origin.letter))
      for (const run of runs) outcomes.set(run, { kind: 'elsewhere' })
  }
  return refusals.filter(({ letter }) => letter === undefined || !lost.has(letter))
}
