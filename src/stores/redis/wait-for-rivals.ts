import { setTimeout as pause } from 'node:timers/promises'
import { JustonceError } from '../../errors/index.ts'
import type { Transaction } from './transaction.ts'

const longestPauseMs = 40

/**
 * Asks until every item has its answer. `ask` gets the items that are left and answers the first of them, up to one that
 * another transaction holds. Answered items stay ours while we wait for the rest.
 */
export async function answersInOrder<Item, Answer>(
  transaction: Transaction,
  items: readonly Item[],
  ask: (left: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  const giveUpAt = performance.now() + transaction.lockTimeoutMs
  for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    // Checked before each question: what a transaction takes after it has given up stays locked until its lease expires.
    transaction.signal?.throwIfAborted()
    if (transaction.ended) throw new JustonceError('TX_CLOSED', { message: 'The transaction ended while it waited.' })
    answers.push(...(await ask(items.slice(answers.length))))
    if (answers.length >= items.length) return answers
    const leftMs = giveUpAt - performance.now()
    if (leftMs <= 0)
      throw new JustonceError('CLAIM_HELD', {
        message: `A rival did not finish within ${transaction.lockTimeoutMs} ms.`,
      })
    // Randomized, so that no waiting transaction is always the last to ask.
    await pause(Math.min(leftMs, pauseMs * (0.5 + Math.random())))
  }
}
