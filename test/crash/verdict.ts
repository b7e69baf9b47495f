import type { LedgerRow } from './fixtures/open-store.ts'

/** What became of the messages that were sent; all empty is what we promise. */
export interface Verdict {
  /** No effect at all. */
  readonly lost: readonly string[]
  /** Some of its writes, but not all of them. */
  readonly torn: readonly string[]
  /** A write more than once. */
  readonly doubled: readonly string[]
}

export const exactlyOnce: Verdict = { lost: [], torn: [], doubled: [] }

/** Compares what was sent with what is in the database, part by part. */
export function judge(
  sent: readonly string[],
  parts: readonly number[],
  ledger: readonly Pick<LedgerRow, 'message' | 'part'>[],
): Verdict {
  const counts = new Map<string, number>()
  for (const { message, part } of ledger) {
    const write = `${message}/${part}`
    counts.set(write, (counts.get(write) ?? 0) + 1)
  }
  const countsOf = (message: string): number[] => parts.map((part) => counts.get(`${message}/${part}`) ?? 0)
  const lost = sent.filter((message) => countsOf(message).every((count) => count === 0))
  return {
    lost,
    torn: sent.filter((message) => !lost.includes(message) && countsOf(message).includes(0)),
    doubled: sent.filter((message) => countsOf(message).some((count) => count > 1)),
  }
}
