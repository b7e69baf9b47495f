import type { Handler } from '../handler.ts'
import type { Run, Work } from '../items.ts'
import { affinityOf } from '../order/chain.ts'

/** One call of a handler: with one message, or, for a batch handler, with all of its messages in the batch. */
export interface Execution<Tx> {
  readonly handler: Handler<Tx>
  readonly runs: readonly Run<Tx>[]
}

interface Level<Tx> {
  readonly each: Execution<Tx>[]
  readonly batches: Map<Handler<Tx>, Run<Tx>[]>
}

/** Where the previous message of a lane, or of a key, was placed. One of the same type joins it; one of another type goes after it. */
interface Placed {
  readonly type: string | undefined
  readonly begin: number
  readonly end: number
}

/**
 * The calls of a batch, in the order in which they are made. Messages are sorted by lane or else by key, and by arrival within it:
 * batches that touch rows in the same order do not deadlock. The handlers of a message keep their order. Whatever
 * follows a batch handler, in its message, lane or key, waits until that handler has received all its messages.
 */
export function planExecutions<Tx>(works: readonly Work<Tx>[]): Execution<Tx>[] {
  const levels: Level<Tx>[] = []
  const placed = new Map<string, Placed>()
  for (const work of inOrder(works)) {
    const { type } = work.delivery.message
    const affinity = affinityOf(work.delivery)
    const before = affinity === undefined ? undefined : placed.get(affinity)
    const begin = before === undefined ? 0 : before.type === type ? before.begin : before.end
    let level = begin
    for (const run of work.runs) {
      levels[level] ??= { each: [], batches: new Map() }
      const { each, batches } = levels[level] as Level<Tx>
      if (run.handler.call.kind === 'each') {
        each.push({ handler: run.handler, runs: [run] })
        continue
      }
      const gathered = batches.get(run.handler)
      if (gathered === undefined) batches.set(run.handler, [run])
      else gathered.push(run)
      level++
    }
    if (affinity !== undefined) placed.set(affinity, { type, begin, end: level })
  }
  return levels.flatMap(({ each, batches }) => [...each, ...[...batches].map(([handler, runs]) => ({ handler, runs }))])
}

function inOrder<Tx>(works: readonly Work<Tx>[]): Work<Tx>[] {
  return works.toSorted((a, b) => {
    const ofA = affinityOf(a.delivery) ?? ''
    const ofB = affinityOf(b.delivery) ?? ''
    return ofA < ofB ? -1 : ofA > ofB ? 1 : 0
  })
}

/** Splits what failed together into halves, so that the failing run ends up alone. */
export function split<Tx>(executions: readonly Execution<Tx>[]): Execution<Tx>[][] {
  if (executions.length > 1) {
    const half = Math.ceil(executions.length / 2)
    return [executions.slice(0, half), executions.slice(half)]
  }
  const { handler, runs } = executions[0] as Execution<Tx>
  const middle = Math.ceil(runs.length / 2)
  return [[{ handler, runs: runs.slice(0, middle) }], [{ handler, runs: runs.slice(middle) }]]
}
