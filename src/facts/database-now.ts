import type { Facts } from '../contracts/index.ts'

/**
 * The time according to the database: the revision of a fact that ends immediately is the time at which it was made. The
 * last one is removed first: revisions grow, so after a clock that was ahead they would stay where it was.
 */
export async function databaseNow({
  facts,
}: {
  readonly facts: Pick<Facts<never>, 'change' | 'remove'>
}): Promise<Date> {
  await facts.remove(undefined, ['clock'])
  const [revision] = await facts.change(undefined, [{ name: 'clock', from: undefined, value: '', forMs: 0 }])
  return timeOfRevision(revision ?? 0)
}

/** When a fact was made, or last changed. */
export function timeOfRevision(revision: number): Date {
  return new Date(Math.floor(revision / 1_000))
}
