import type { InboxKey, RecordChange } from '../contracts/index.ts'

export type KeptRecord = Exclude<RecordChange, { readonly state: 'unclaimed' }>

/** Separates claims that are released from records that stay with another state. */
export function splitChanges(changes: readonly RecordChange[]): {
  readonly unclaimed: readonly InboxKey[]
  readonly kept: readonly KeptRecord[]
} {
  return {
    unclaimed: changes.filter(({ state }) => state === 'unclaimed'),
    kept: changes.filter((change): change is KeptRecord => change.state !== 'unclaimed'),
  }
}
