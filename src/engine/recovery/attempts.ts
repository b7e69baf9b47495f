import type { Delivery } from '../../contracts/index.ts'
import { afterTheCommit } from '../batch/after-the-commit.ts'
import { type Batch, type Committed, processBatch } from '../batch/process-batch.ts'
import { isOutside, processOutside } from '../batch/process-outside.ts'
import { unwrapped } from '../batch/rolled-back.ts'
import { emptyResult } from '../batch-result.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import type { Item, Refusal, Work } from '../items.ts'
import { movesPast } from '../positions/partition-moves.ts'
import { nextStep, type Step, type Trouble } from './next-step.ts'
import { type WhyRolledBack, whyRolledBack } from './why-rolled-back.ts'

/** One transaction: it was committed, or it was rolled back, with the reason and how often that reason has occurred. */
export type Attempt<Tx> =
  | { readonly committed: Committed<Tx> }
  | { readonly committed: undefined; readonly why: WhyRolledBack; readonly times: number; readonly error: unknown }

/** The transactions of one call of the engine, and the result for everything in them. */
export class Attempts<Tx> {
  readonly engine: Engine<Tx>
  readonly feed: Feed
  readonly result = emptyResult()

  constructor(engine: Engine<Tx>, feed: Feed) {
    this.engine = engine
    this.feed = feed
  }

  /** `history`: why the same batch was rolled back before. */
  async attempt(batch: Batch<Tx>, history: WhyRolledBack[]): Promise<Attempt<Tx>> {
    const { engine, feed, result } = this
    let committed: Committed<Tx>
    try {
      committed = await (isOutside(batch) ? processOutside : processBatch)(engine, feed, batch)
    } catch (error) {
      const why = await whyRolledBack(engine, error)
      const messages = Math.max(1, batch.works.length)
      engine.events.emit({ kind: 'rolled-back', reason: why, error: unwrapped(error), messages })
      history.push(why)
      return { committed: undefined, why, times: history.filter((each) => each === why).length, error }
    }
    // A commit whose answer was lost may have stored messages without waking the relay.
    if (history.includes('commit-unknown')) engine.wake('relay')
    const { settled, lost, wentWell, background, overheadMs } = await afterTheCommit(engine, feed, committed)
    result.settled.push(...settled)
    result.lost.push(...lost)
    result.background.push(...background)
    result.wentWell += wentWell
    result.overheadMs += committed.overheadMs + overheadMs
    return { committed }
  }

  /** What to do next. If that is to try again, it first waits until it is time to. */
  async next(trouble: Trouble): Promise<Step> {
    const { clock, timing } = this.engine
    const step = nextStep(trouble, timing)
    if (step.kind === 'again' && step.afterMs > 0) await clock.sleep(step.afterMs * (1 + clock.random()))
    return step
  }

  batchOf(items: readonly Item<Tx>[]): Batch<Tx> {
    const { isolation, timing } = this.engine
    const works: Work<Tx>[] = []
    const refusals: Refusal[] = []
    const known: Delivery[] = []
    for (const { delivery, work, refusal } of items) {
      if (work !== undefined) works.push(work)
      if (refusal !== undefined) refusals.push(refusal)
      if (work === undefined && refusal === undefined) known.push(delivery)
    }
    return {
      works,
      refusals,
      known,
      earlier: [],
      settles: true,
      partSize: isOneCall(works) ? partSizeOfOne(works[0]) : isolation.partSize,
      lockTimeoutMs:
        works.length > 1 ? (this.feed.lockTimeoutMs?.() ?? timing.batchLockTimeoutMs) : timing.aloneLockTimeoutMs,
      ...(this.feed.positions !== undefined && { moves: movesPast(items.map(({ delivery }) => delivery)) }),
    }
  }
}

function isOneCall<Tx>([only, another]: readonly Work<Tx>[]): boolean {
  return another === undefined && (only === undefined || only.runs.length === 1)
}

/** A single call needs no part, unless it is likely to fail: without a part a failure costs another transaction. */
function partSizeOfOne<Tx>(work: Work<Tx> | undefined): number {
  return (work?.origin.letter?.attempts ?? 0) > 0 ? 1 : Number.POSITIVE_INFINITY
}
