import type { Delivery } from '../contracts/index.ts'
import { isRecorded } from './claim.ts'
import type { Engine } from './engine.ts'
import { follows, partitionId } from './partition-moves.ts'
import { markOf } from './position-mark.ts'
import { prepare } from './prepare.ts'
import type { Report } from './report.ts'
import { admit, type HoldsBack } from './sort-out.ts'
import type { Source, StoredPositions } from './source.ts'
import type { Origin, Refusal, Work } from './work.ts'

/** A delivery and what is to be done with it; neither: it only counts as handled. */
export interface Item<Tx> {
  readonly delivery: Delivery
  readonly work?: Work<Tx>
  readonly refusal?: Refusal
}

/** A source that keeps its positions in the store. */
export type PositionSource = Source & { readonly positions: StoredPositions }

/** In order, each partition up to the first that has to wait, or that does not follow the one before it. */
export async function itemsOf<Tx>(
  engine: Engine<Tx>,
  source: PositionSource,
  deliveries: readonly Delivery[],
  report: Report,
  suspicionOf: (delivery: Delivery) => Pick<Origin, 'suspect' | 'condemned'>,
  holdsBack: HoldsBack,
): Promise<Item<Tx>[]> {
  const items: Item<Tx>[] = []
  const stopped = new Set<string>()
  const claimed = new Set<string>()
  const last = new Map<string, Delivery>()
  let runs = 0
  for (const delivery of deliveries) {
    const partition = partitionId(delivery)
    // What was read anew stands behind what is left of the reading before: that has to be settled first.
    const before = last.get(partition)
    if (before !== undefined && !follows(delivery, before)) stopped.add(partition)
    last.set(partition, delivery)
    const mark = source.positions.dedup === 'position' ? markOf(delivery) : undefined
    const origin = { mark, ...suspicionOf(delivery) }
    const prepared = await prepare(engine, delivery, origin, runs)
    if (prepared.kind === 'work') runs += prepared.work.runs.length
    if (stopped.has(partition)) report.again.push(delivery)
    else if (prepared.kind === 'refused') items.push({ delivery, refusal: prepared.refusal })
    else if (prepared.kind === 'ignored') {
      engine.events.emit({ kind: 'ignored', messageId: delivery.message.id, type: delivery.message.type })
      items.push({ delivery })
    } else if (prepared.work.runs.some((run) => isRecorded(run) && claimed.has(`${run.handler.name}\0${run.key}`))) {
      // A copy of one before it: the next batch will find its record.
      report.again.push(delivery)
      stopped.add(partition)
    } else {
      const work = admit(engine, prepared.work, holdsBack)
      if (work === undefined) {
        report.stopped.push(delivery)
        stopped.add(partition)
        continue
      }
      for (const run of work.runs) claimed.add(`${run.handler.name}\0${run.key}`)
      items.push({ delivery, work })
    }
  }
  return items
}
