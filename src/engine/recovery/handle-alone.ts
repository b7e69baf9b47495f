import { isHandled, leavesRecord } from '../batch/bookkeeping.ts'
import type { Batch } from '../batch/process-batch.ts'
import { RolledBack, unwrapped } from '../batch/rolled-back.ts'
import { type Item, isGoodEnd, letterOf, type Outcomes, type Run } from '../items.ts'
import type { Attempts } from './attempts.ts'
import { isDenied, lastResort, stuck } from './keep-somehow.ts'
import type { Alone } from './next-step.ts'
import { whyNotGone } from './still-queued.ts'
import type { WhyRolledBack } from './why-rolled-back.ts'

/** The result for one message, or one run of it. */
interface End {
  /** The list in which the messages behind it in its chain are left; `undefined` if they can go on. */
  readonly leaves: 'again' | 'held' | undefined
  /** `undefined` if the whole message is settled in another way, or left. */
  readonly outcomes?: Outcomes | undefined
}

/** What is known about a message before it is handled alone. */
export interface Before {
  /** Outcomes of its runs that are already decided. */
  readonly done?: Outcomes
  /** It failed alongside others, and is likely to fail again. */
  readonly hasFailed?: boolean
}

/**
 * Handles one message with a transaction for each of its handlers, so that any failure belongs to one handler. If a
 * position moves with the message, one transaction for all of them.
 */
export async function handleAlone<Tx>(
  attempts: Attempts<Tx>,
  item: Item<Tx>,
  { done = [], hasFailed = false }: Before,
): Promise<End['leaves']> {
  const { work } = item
  const earlier = [...done]
  if (work === undefined || attempts.feed.positions !== undefined)
    return (await settle(attempts, item, { earlier, hasFailed, isLast: true })).leaves
  const runs = work.runs.filter(({ index }) => earlier[index] === undefined)
  let end: End = { leaves: undefined }
  for (const run of runs) {
    const isLast = run === runs.at(-1)
    const earlierRuns = work.runs.filter(({ index }) => leavesRecord(earlier[index]))
    const one = { ...item, work: { ...work, runs: [run] } }
    end = await settle(attempts, one, { earlier, earlierRuns, hasFailed, isLast })
    const outcome = end.outcomes?.[run.index]
    // The message will be handled again, and the rest of it then.
    if (outcome === undefined || outcome.kind === 'unstarted') break
    earlier[run.index] = outcome
  }
  return end.leaves
}

/** Tries until the outcome is decided (processed, parked or a duplicate) or the message is left for later. */
async function settle<Tx>(
  attempts: Attempts<Tx>,
  given: Item<Tx>,
  {
    earlier,
    earlierRuns,
    hasFailed,
    isLast,
  }: Pick<Batch<Tx>, 'earlier' | 'earlierRuns'> & {
    readonly hasFailed: boolean
    readonly isLast: boolean
  },
): Promise<End> {
  const { aloneLockTimeoutMs, longestLockTimeoutMs } = attempts.engine.timing
  let item = given
  let of: Alone = knownOf(item)
  let history: WhyRolledBack[] = []
  for (let rounds = 0; ; rounds++) {
    // Alone, it may wait longer each time, because it only blocks transactions that want the same rows.
    const lockTimeoutMs = Math.min(aloneLockTimeoutMs * 2 ** rounds, longestLockTimeoutMs)
    const settles = isLast || of === 'last-resort'
    const one = attempts.batchOf([item])
    // A message that is not run needs no part. If there are several handlers, each needs one.
    const needsPart = hasFailed || (item.work?.runs.length ?? 0) > 1
    const partSize = of !== 'unknown' ? Number.POSITIVE_INFINITY : needsPart ? 1 : one.partSize
    const batch = { ...one, earlier, earlierRuns, settles, partSize, lockTimeoutMs }
    const attempt = await attempts.attempt(batch, history)
    if (attempt.committed !== undefined) {
      const { outcomes } = attempt.committed
      const leaves = leavesChain(attempts, item, outcomes) ? 'again' : undefined
      return { leaves, outcomes: item.work === undefined ? undefined : outcomes }
    }
    const { why, times, error } = attempt
    const cause = unwrapped(error)
    const step = await attempts.next({ of, why, times, isDenied: isDenied(error) })
    if (step.kind === 'again') continue
    history = []
    if (step.kind === 'hold') return held(attempts, item)
    if (step.kind === 'let-go') {
      const why = await whyNotGone(attempts, item.delivery)
      return why === undefined ? letGo(attempts, item) : setAside(attempts, item, why)
    }
    if (step.kind === 'fail') {
      item = failing(item, error instanceof RolledBack ? (error.runs as readonly Run<Tx>[]) : [], cause)
      of = knownOf(item)
    } else if (step.kind === 'plainly') {
      item = changed(item, (run) => ({ ...run, isPlain: true }))
      of = 'plain'
    } else {
      const isWaiting = why === 'unkeepable'
      const refusal =
        step.kind === 'keep' ? await lastResort(attempts.engine, { item, error: cause, isWaiting }) : undefined
      if (refusal === undefined) return setAside(attempts, item, cause)
      item = { delivery: item.delivery, refusal }
      of = 'last-resort'
    }
  }
}

/**
 * Whether the messages behind it in its chain must wait: it will be handled again, or it stays first in the rows of its
 * order key.
 */
export function leavesChain<Tx>({ result }: Attempts<Tx>, item: Item<Tx>, outcomes: Outcomes): boolean {
  const { work, delivery } = item
  const isRow = letterOf(item) !== undefined
  if (work === undefined) return isRow
  const isAgain = !isHandled(work, outcomes) && work.runs.every(({ index }) => outcomes[index]?.kind !== 'elsewhere')
  if (isAgain) result.again.push(delivery)
  return isAgain || (isRow && !work.runs.every(({ index }) => isGoodEnd(outcomes[index])))
}

function held<Tx>({ engine, result }: Attempts<Tx>, { delivery, work }: Item<Tx>): End {
  const [run] = work?.runs ?? []
  if (run !== undefined) engine.events.emit({ kind: 'claim-held', handler: run.handler.name, key: run.key })
  result.held.push(delivery)
  return { leaves: 'held' }
}

/** Not an attempt, and nobody's failure. */
function letGo<Tx>({ engine, feed, result }: Attempts<Tx>, { delivery }: Item<Tx>): End {
  const { id: messageId, type } = delivery.message
  feed.inside?.forget([delivery])
  engine.events.emit({ kind: 'delivery-gone', messageId, type })
  result.settled.push(delivery)
  return { leaves: undefined }
}

function setAside<Tx>({ engine, result }: Attempts<Tx>, item: Item<Tx>, error: unknown): End {
  result.held.push(item.delivery)
  result.stuck.set(item.delivery, { pauseMs: stuck(engine, item, error), error })
  return { leaves: 'held' }
}

function knownOf<Tx>({ work }: Item<Tx>): Alone {
  if (work === undefined) return 'plain'
  return work.runs.every(({ failure }) => failure !== undefined) ? 'failing' : 'unknown'
}

/** The item with the given runs marked as failing, or all of its runs if none of the given ones is its own. */
export function failing<Tx>(item: Item<Tx>, runs: readonly Run<Tx>[], error: unknown): Item<Tx> {
  const own = new Set(runs.filter(({ delivery }) => delivery === item.delivery).map(({ index }) => index))
  return changed(item, (run) => {
    const fails = run.failure === undefined && (own.size === 0 || own.has(run.index))
    return fails ? { ...run, failure: { error } } : run
  })
}

function changed<Tx>(item: Item<Tx>, change: (run: Run<Tx>) => Run<Tx>): Item<Tx> {
  return item.work === undefined ? item : { ...item, work: { ...item.work, runs: item.work.runs.map(change) } }
}
