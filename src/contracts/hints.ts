import type { ClaimRequest } from './inbox.ts'

/**
 * What may know sooner than a claim that messages were processed, to save the claim. It may know less than the store,
 * never more; without it everything works the same.
 */
export interface Hints {
  /**
   * One answer each: true only where it was told, under this very epoch, that this content was committed.
   * You must: answer soon, and false rather than reject when something is wrong.
   */
  known(requests: readonly ClaimRequest[], epoch: string): Promise<readonly boolean[]>
  /** These are processed, as a transaction has shown that was seen to commit and had read this epoch. Nobody waits for it. */
  committed(requests: readonly ClaimRequest[], epoch: string): void
}
