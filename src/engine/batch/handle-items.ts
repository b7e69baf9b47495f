import { isJustonceError } from '../../errors/index.ts'
import type { BatchResult } from '../batch-result.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import type { SortedOut } from '../intake/sort-out.ts'
import type { Item } from '../items.ts'
import { chainOf, LeftChains } from '../order/chain.ts'
import { Attempts } from '../recovery/attempts.ts'
import { type Blame, blamedFor } from '../recovery/blame.ts'
import { type Before, failing, handleAlone, leavesChain } from '../recovery/handle-alone.ts'
import { noteFailures } from '../recovery/note-failures.ts'
import type { WhyRolledBack } from '../recovery/why-rolled-back.ts'
import { acknowledged } from './after-the-commit.ts'
import { isLeft } from './bookkeeping.ts'
import type { Committed } from './process-batch.ts'
import { RolledBack, unwrapped } from './rolled-back.ts'

/** In messages. Below, running each alone after a conflict costs about as much as a second conflict would. */
const large = 16

/** Handles the sorted items and resolves to what became of them, even if the store becomes unavailable midway. */
export async function handleItems<Tx>(engine: Engine<Tx>, feed: Feed, sorted: SortedOut<Tx>): Promise<BatchResult> {
  const attempts = new Attempts(engine, feed)
  const handling = new Handling(attempts)
  const { result } = attempts
  try {
    await handling.together(sorted.shared)
    if (sorted.alone.length > 0) await handling.inTurn(sorted.alone)
  } catch (error) {
    result.down = { error }
  }
  // After the items that were not begun: a copy must not overtake its original.
  result.again.push(...sorted.again)
  result.stopped.push(...sorted.stopped)
  return result
}

/** If an item of a chain is left, the rest of the chain is left too. */
class Handling<Tx> {
  readonly #attempts: Attempts<Tx>
  readonly #left: LeftChains<Tx, 'again' | 'held'>

  constructor(attempts: Attempts<Tx>) {
    this.#attempts = attempts
    this.#left = new LeftChains(attempts.feed)
  }

  /**
   * Handles the items in one transaction while that succeeds. `tries`: how many transactions with other items were
   * rolled back before these were left.
   */
  async together(given: readonly Item<Tx>[], tries = 1): Promise<void> {
    const { engine, feed, result } = this.#attempts
    const items = this.#left.without(given, result)
    if (items.length === 0) return
    const isOne = items.length === 1 && feed.positions !== undefined
    if (isOne || items.every((item) => this.#isOnlySettled(item))) return await this.inTurn(items)
    const history: WhyRolledBack[] = []
    let looksBack = false
    for (;;) {
      const batch = { ...this.#attempts.batchOf(items), looksBack }
      const attempt = await this.#attempts.attempt(batch, history)
      if (attempt.committed !== undefined) {
        const apart = this.#apartFrom(items, attempt.committed)
        return apart.length === 0 ? undefined : await this.#apart(apart, attempt.committed)
      }
      const { why, times, error } = attempt
      if (why === 'conflict' || why === 'held') result.conflicts++
      if (why === 'failure') result.failures++
      const blame = blamedFor(batch, why, error)
      const hasParts = engine.store.parts !== undefined
      const isBare = batch.partSize === Number.POSITIVE_INFINITY && batch.works.length > 1
      if (why === 'failure' && (isBare || (error instanceof RolledBack && error.areEach)))
        engine.isolation.saw(blame?.runs.length ?? 1, batch.works.length)
      // Without parts, every failure costs all the other messages a run.
      const isBlamed = blame !== undefined && (hasParts || tries + history.length <= 4)
      const canHaveParts = hasParts && (isBare || (!looksBack && isJustonceError(unwrapped(error), 'TX_ABORTED')))
      const isLarge = batch.works.length >= large
      const step = await this.#attempts.next({ of: 'shared', why, times, isBlamed, isLarge, canHaveParts })
      looksBack ||= step.kind === 'in-parts'
      if (step.kind === 'without-the-blamed')
        return await this.#withoutTheBlamed(items, blame as Blame<Tx>, error, tries + history.length)
      if (step.kind === 'each-alone') return await this.inTurn(items)
    }
  }

  /** Handles the items one after the other, each alone. */
  async inTurn(items: readonly Item<Tx>[], before: Before = {}, left = this.#left): Promise<void> {
    const { result } = this.#attempts
    await this.#settle(items.filter((item) => this.#isOnlySettled(item)))
    for (const item of items) {
      if (this.#isOnlySettled(item) || left.without([item], result).length === 0) continue
      const leaves = await handleAlone(this.#attempts, item, before)
      if (leaves === undefined) continue
      left.leave(item, leaves)
      this.#left.leave(item, leaves)
    }
  }

  /** Handles the blamed items alone, after the items before them in their chains; then the other items without them. */
  async #withoutTheBlamed(items: readonly Item<Tx>[], { runs, isFailed }: Blame<Tx>, error: unknown, tries: number) {
    const { feed } = this.#attempts
    const blamed = new Set(runs.map(({ delivery }) => delivery))
    let rest = items
    for (const item of items.filter(({ delivery }) => blamed.has(delivery))) {
      const chain = chainOf(feed, item)
      const isBefore = (other: Item<Tx>): boolean => chain !== undefined && chainOf(feed, other) === chain
      const before = rest.slice(0, rest.indexOf(item)).filter(isBefore)
      await this.together(before, tries)
      await this.inTurn([isFailed ? failing(item, runs, unwrapped(error)) : item], { hasFailed: true })
      rest = rest.filter((other) => other !== item && !before.includes(other))
    }
    await this.together(rest, tries)
  }

  /** The items with runs that failed alongside others, in a batch that committed without them. */
  #apartFrom(items: readonly Item<Tx>[], committed: Committed<Tx>): readonly Item<Tx>[] {
    const { engine, result } = this.#attempts
    const { outcomes } = committed
    noteFailures(engine, committed)
    return items.filter((item) => {
      const isApart = item.work?.runs.some(({ index }) => outcomes[index]?.kind === 'apart')
      if (isApart && this.#left.behind(item) === undefined) return true
      if (isApart) result.again.push(item.delivery)
      else if (leavesChain(this.#attempts, item, outcomes)) this.#left.leave(item, 'again')
      return false
    })
  }

  /** They are next, before the rest of their chains. */
  async #apart(items: readonly Item<Tx>[], { outcomes }: Committed<Tx>): Promise<void> {
    const done = outcomes.map((outcome) => (isLeft(outcome) ? undefined : outcome))
    await this.inTurn(items, { done, hasFailed: true }, new LeftChains(this.#attempts.feed))
  }

  /** It only needs to be settled: it has no work, no refusal, and no position to move. */
  #isOnlySettled({ work, refusal }: Item<Tx>): boolean {
    return (work ?? refusal) === undefined && this.#attempts.feed.positions === undefined
  }

  async #settle(items: readonly Item<Tx>[]): Promise<void> {
    if (items.length === 0) return
    const { engine, feed, result } = this.#attempts
    const deliveries = items.map(({ delivery }) => delivery)
    result.overheadMs += await acknowledged(engine, feed, deliveries)
    result.settled.push(...deliveries)
    result.wentWell += deliveries.length
  }
}
