import type { ClaimRequest } from './inbox.ts'

/**
 * Something that may know sooner than a claim that messages were processed, to save the claim. It may know less than
 * the store, never more; without it everything works the same.
 */
export interface Hints {
  /**
   * One answer per request: true only if this content was passed to `committed` under exactly this epoch.
   * You must: answer quickly, and answer false rather than reject if something is wrong.
   */
  known(requests: readonly ClaimRequest[], epoch: string): Promise<readonly boolean[]>
  /** These are processed: a transaction that read this epoch was seen to commit. The caller does not wait for it, and ignores what it throws. */
  committed(requests: readonly ClaimRequest[], epoch: string): void
}
