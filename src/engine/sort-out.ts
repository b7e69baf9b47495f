import type { Delivery } from '../contracts/index.ts'
import { isRecorded } from './claim.ts'
import type { Engine } from './engine.ts'
import { prepare } from './prepare.ts'
import type { Refusal, Work } from './work.ts'

/** Deliveries by what is to be done with them. */
export interface SortedOut<Tx> {
  /** To be handled together in one transaction. */
  readonly shared: Work<Tx>[]
  /** To be handled each in transactions of their own. */
  readonly alone: Work<Tx>[]
  readonly refusals: Refusal[]
  /** Nothing to do but settle. */
  readonly known: Delivery[]
  /** A message with the same key is in this batch already: the next batch will find out what that makes of this one. */
  readonly again: Delivery[]
}

export async function sortOut<Tx>(engine: Engine<Tx>, deliveries: readonly Delivery[]): Promise<SortedOut<Tx>> {
  const sorted: SortedOut<Tx> = { shared: [], alone: [], refusals: [], known: [], again: [] }
  const keys = new Set<string>()
  for (const delivery of deliveries) {
    const prepared = await prepare(engine, delivery)
    if (prepared.kind === 'refused') sorted.refusals.push(prepared.refusal)
    else if (prepared.kind === 'ignored') ignore(engine, delivery, sorted)
    else place(engine, prepared.work, keys, sorted)
  }
  return sorted
}

function place<Tx>(engine: Engine<Tx>, work: Work<Tx>, keys: Set<string>, sorted: SortedOut<Tx>): void {
  if (isKnown(engine, work)) {
    for (const { handler, key } of work.runs) {
      engine.events.emit({ kind: 'duplicate', handler: handler.name, key, type: handler.type, from: 'cache' })
    }
    sorted.known.push(work.delivery)
    return
  }
  const own = work.runs.map(({ handler, key }) => `${handler.name}\0${key}`)
  if (own.some((key) => keys.has(key))) {
    sorted.again.push(work.delivery)
    return
  }
  for (const key of own) keys.add(key)
  const alone = !engine.store.capabilities.revocable || work.runs.some(({ handler }) => handler.transaction === 'own')
  if (alone) sorted.alone.push(work)
  else sorted.shared.push(work)
}

function isKnown<Tx>(engine: Engine<Tx>, work: Work<Tx>): boolean {
  return work.runs.every(
    (run) => isRecorded(run) && engine.recent.knows({ handler: run.handler.name, key: run.key }, run.fingerprint),
  )
}

function ignore<Tx>(engine: Engine<Tx>, delivery: Delivery, sorted: SortedOut<Tx>): void {
  engine.events.emit({ kind: 'ignored', messageId: delivery.message.id, type: delivery.message.type })
  sorted.known.push(delivery)
}
