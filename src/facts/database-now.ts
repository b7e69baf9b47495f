import type { Facts } from '../contracts/index.ts'

const mostTries = 10

/**
 * The time according to the database: the revision of a fact that ends immediately is the time at which it was made. The
 * last one is removed first: revisions grow, so after a clock that was ahead they would stay where it was.
 */
export async function databaseNow({
  facts,
}: {
  readonly facts: Pick<Facts<never>, 'change' | 'remove'>
}): Promise<Date> {
  for (let tries = 0; tries < mostTries; tries++) {
    await facts.remove(undefined, ['clock'])
    const [revision] = await facts.change(undefined, [{ name: 'clock', from: undefined, value: '', forMs: 0 }])
    // Refused if another process has asked and the clock was set back, both since the removal.
    if (revision !== undefined) return timeOfRevision(revision)
  }
  throw new Error(`The clock of the database was set back ${mostTries} times while it was being asked.`)
}

/** When a fact was made, or last changed. */
export function timeOfRevision(revision: number): Date {
  return new Date(Math.floor(revision / 1_000))
}
