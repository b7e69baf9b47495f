import type { Delivery, InboxRecord, PositionMove, Positions } from '../../contracts/index.ts'
import type { Batch } from '../batch/process-batch.ts'
import { RolledBack } from '../batch/rolled-back.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import type { Outcomes } from '../items.ts'
import { isSame, nameOf, partitionId } from './partition-moves.ts'

/** A batch after its positions were moved. */
export interface Moved<Tx> {
  readonly batch: Batch<Tx>
  /** Deliveries that do not begin at the position in the store: another process has handled them, or is about to. */
  readonly lost: readonly Delivery[]
}

/**
 * Moves the positions of a batch before anything else is done: a process that has lost a partition detects it here. If
 * an earlier commit of ours succeeded but its answer was lost, its messages show up as duplicates.
 */
export function movePositions<Tx>(
  engine: Engine<Tx>,
  feed: Feed,
  tx: Tx,
  batch: Batch<Tx>,
  outcomes: Outcomes,
): Moved<Tx> | Promise<Moved<Tx>> {
  const { positions: store } = engine.store
  const { moves = [] } = batch
  if (store === undefined || feed.positions === undefined || moves.length === 0) return { batch, lost: [] }
  const answering = moveAll(engine, tx, store, feed.positions.group, moves)
  return answering.then((answers) => moved(engine, batch, moves, answers, outcomes))
}

function moved<Tx>(
  engine: Engine<Tx>,
  batch: Batch<Tx>,
  moves: readonly PositionMove[],
  answers: Awaited<ReturnType<Positions<Tx>['move']>>,
  outcomes: Outcomes,
): Moved<Tx> {
  const done = new Set<string>()
  const lost = new Set<string>()
  moves.forEach(({ source: topic, partition, to }, index) => {
    const found = answers[index]
    if (found === undefined) return
    const isHandled = found !== 'none' && isSame(found, to)
    ;(isHandled ? done : lost).add(nameOf(topic, partition))
  })
  if (done.size + lost.size === 0) return { batch, lost: [] }
  const record: InboxRecord = { state: 'processed', fingerprint: undefined, processedAt: engine.clock.now() }
  for (const { delivery, runs } of batch.works) {
    const id = partitionId(delivery)
    for (const run of runs) {
      if (lost.has(id)) outcomes[run.index] = { kind: 'elsewhere' }
      else if (done.has(id)) outcomes[run.index] = { kind: 'duplicate', record }
    }
  }
  const isLost = (delivery: Delivery): boolean => lost.has(partitionId(delivery))
  const deliveries = [
    ...batch.known,
    ...batch.works.map(({ delivery }) => delivery),
    ...batch.refusals.map(({ delivery }) => delivery),
  ]
  // Refusals of a commit that is known to have succeeded are already parked, and parking them again changes nothing.
  return {
    batch: {
      ...batch,
      known: batch.known.filter((delivery) => !isLost(delivery)),
      refusals: batch.refusals.filter(({ delivery }) => !isLost(delivery)),
    },
    lost: deliveries.filter(isLost),
  }
}

/**
 * The process that holds a position and does not finish has the partition, or had it. Nothing has run, and no message is
 * to blame.
 */
async function moveAll<Tx>(
  engine: Engine<Tx>,
  tx: Tx,
  store: Positions<Tx>,
  group: string,
  moves: readonly PositionMove[],
): ReturnType<Positions<Tx>['move']> {
  try {
    return await store.move(tx, group, moves)
  } catch (error) {
    throw engine.store.classify(error) === 'conflict' ? new RolledBack('held', error) : error
  }
}
