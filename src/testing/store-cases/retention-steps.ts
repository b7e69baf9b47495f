import type { ClaimAnswer, ClaimRequest, Retention, Store } from '../../contracts/index.ts'
import { present, request } from '../sample-records.ts'

export const aDay = 86_400_000

/** The time this many days from now, in whole seconds, so that it is exact in every database. */
export function daysFromNow(days: number): Date {
  return new Date(Math.round((Date.now() + days * aDay) / 1_000) * 1_000)
}

export function born(key: string, moment: Date | undefined): ClaimRequest {
  return { ...request(key), born: moment }
}

export function retentionOf<Tx>(store: Store<Tx>): Retention {
  return present(store.retention, 'the retention of the store')
}

/** If nothing is in doubt, there is a horizon afterwards. */
export async function raised<Tx>(store: Store<Tx>, keepMs: number): Promise<{ horizon: Date; now: Date }> {
  const { horizon, now } = await retentionOf(store).raise(keepMs)
  return { horizon: present(horizon, 'the horizon'), now }
}

export function claimAll<Tx>(store: Store<Tx>, ...requests: readonly ClaimRequest[]): Promise<ClaimAnswer> {
  return store.transaction((tx) => store.inbox.claim(tx, requests))
}

/** `first`, `too old`, or the state of the existing record, one for each key. */
export function verdicts({ existing, tooOld }: ClaimAnswer): readonly string[] {
  return existing.map((record, place) => record?.state ?? (tooOld?.has(place) ? 'too old' : 'first'))
}

/** Those of the keys that have a record. */
export async function found<Tx>(store: Store<Tx>, ...keys: readonly string[]): Promise<readonly string[]> {
  const records = await store.inbox.find(keys.map((key) => request(key)))
  return keys.filter((_, place) => records[place] !== undefined)
}

/** Repeats until nothing is left. Resolves to how many were removed. */
export async function removeAll<Tx>(
  store: Store<Tx>,
  bornBefore: Date,
  timelessBefore?: Date | undefined,
): Promise<number> {
  let removed = 0
  for (;;) {
    const step = await retentionOf(store).remove({ bornBefore, timelessBefore, budgetMs: 200 })
    removed += step.removed
    if (!step.more) return removed
  }
}
