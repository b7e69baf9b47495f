import type { Delivery } from '../contracts/index.ts'
import { isRecorded } from './claim.ts'
import type { Engine } from './engine.ts'
import { hintedRuns } from './hinted.ts'
import { prepare } from './prepare.ts'
import { type Origin, type Refusal, type Run, rowKeyOf, type Work } from './work.ts'

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
  /** A handler of theirs is failing on everything. */
  readonly stopped: Delivery[]
}

export function nothingYet<Tx>(): SortedOut<Tx> {
  return { shared: [], alone: [], refusals: [], known: [], again: [], stopped: [] }
}

export async function sortOut<Tx>(
  engine: Engine<Tx>,
  deliveries: readonly Delivery[],
  originOf: (delivery: Delivery) => Origin,
  holdsBack: HoldsBack = () => true,
): Promise<SortedOut<Tx>> {
  const sorted = nothingYet<Tx>()
  const taken = nothingTaken()
  const works: Work<Tx>[] = []
  let runs = 0
  for (const delivery of deliveries) {
    const answer = prepare(engine, delivery, originOf(delivery), runs)
    const prepared = answer instanceof Promise ? await answer : answer
    if (prepared.kind === 'refused') sorted.refusals.push(prepared.refusal)
    else if (prepared.kind === 'ignored') ignore(engine, delivery, sorted)
    else {
      works.push(prepared.work)
      runs += prepared.work.runs.length
    }
  }
  const hinted = await hintedRuns(engine, works)
  for (const work of works) place(engine, work, taken, sorted, { hinted, holdsBack })
  return sorted
}

export function nothingTaken(): Taken {
  return { claims: new Map(), orderedAlone: new Set(), stopped: new Set() }
}

/** What the deliveries before have taken. */
export interface Taken {
  /** Keys, by the name of the handler. */
  readonly claims: Map<string, Set<string>>
  /** Message keys of which something is handled alone, and therefore after all that is handled together. */
  readonly orderedAlone: Set<string>
  /** Message keys of which something is stopped: what follows must not overtake it. */
  readonly stopped: Set<string>
}

/**
 * Asked of each delivery that a breaker keeps from all its handlers: true, and it is left to the caller, who tries it
 * again; false, and it is parked without an attempt, because others need the room or stand behind it.
 */
export type HoldsBack = (delivery: Delivery) => boolean

export function place<Tx>(
  engine: Engine<Tx>,
  given: Work<Tx>,
  taken: Taken,
  sorted: SortedOut<Tx>,
  { hinted = new Set(), holdsBack = () => true }: { hinted?: ReadonlySet<Run<Tx>>; holdsBack?: HoldsBack } = {},
): void {
  let work = given
  if (isKnown(engine, work, hinted)) {
    for (const { handler, key } of work.runs) {
      engine.events.emit({ kind: 'duplicate', handler: handler.name, key, type: handler.type, from: 'cache' })
    }
    sorted.known.push(work.delivery)
    return
  }
  if (work.runs.some((run) => taken.claims.get(run.handler.name)?.has(rowKeyOf(run)))) {
    sorted.again.push(work.delivery)
    return
  }
  const key = work.delivery.message.key ?? undefined
  const admitted = key !== undefined && taken.stopped.has(key) ? undefined : admit(engine, work, holdsBack)
  if (admitted === undefined) {
    sorted.stopped.push(work.delivery)
    if (key !== undefined) taken.stopped.add(key)
    return
  }
  work = admitted
  for (const run of work.runs) addClaim(taken.claims, run)
  if (!mustBeAlone(engine, work) && !(key !== undefined && taken.orderedAlone.has(key))) {
    sorted.shared.push(work)
    return
  }
  sorted.alone.push(work)
  if (key !== undefined) taken.orderedAlone.add(key)
}

function addClaim<Tx>(claims: Map<string, Set<string>>, run: Run<Tx>): void {
  const { handler } = run
  const key = rowKeyOf(run)
  const keys = claims.get(handler.name)
  if (keys === undefined) claims.set(handler.name, new Set([key]))
  else keys.add(key)
}

function mustBeAlone<Tx>(engine: Engine<Tx>, work: Work<Tx>): boolean {
  return !engine.store.capabilities.revocable || work.runs.some(({ handler }) => handler.transaction === 'own')
}

/**
 * The work as far as breakers let it go on: handlers are admitted one by one, and what they stop of a message that goes
 * on otherwise is parked. Undefined: nothing of it can go on, and it is held back.
 */
export function admit<Tx>(engine: Engine<Tx>, work: Work<Tx>, holdsBack: HoldsBack): Work<Tx> | undefined {
  const stopped = new Set(work.runs.filter((run) => !isAdmitted(engine, run)))
  if (stopped.size === 0) return work
  const first = work.runs.findIndex((run) => stopped.has(run))
  // Those that are not independent follow the first that is stopped.
  const goesOn = work.runs.some((run, place) => !stopped.has(run) && (place < first || run.handler.independent))
  if (work.origin.letter !== undefined || (!goesOn && holdsBack(work.delivery))) return undefined
  return parkingStopped(work)
}

/** Those that are known to fail do not ask: they are not run. */
function isAdmitted<Tx>({ breakers }: Engine<Tx>, { failure, expired, handler, key }: Run<Tx>): boolean {
  return failure !== undefined || expired || breakers.admits(handler, key)
}

function parkingStopped<Tx>(work: Work<Tx>): Work<Tx> {
  const origin: Origin = { ...work.origin, parksStopped: true }
  return { ...work, origin, runs: work.runs.map((run) => ({ ...run, origin })) }
}

function isKnown<Tx>(engine: Engine<Tx>, work: Work<Tx>, hinted: ReadonlySet<Run<Tx>>): boolean {
  if (work.origin.letter !== undefined) return false
  return work.runs.every((run) => {
    const { handler, key, fingerprint } = run
    return isRecorded(run) && (hinted.has(run) || engine.recent.knows({ handler: handler.name, key }, fingerprint))
  })
}

function ignore<Tx>(engine: Engine<Tx>, delivery: Delivery, sorted: SortedOut<Tx>): void {
  engine.events.emit({ kind: 'ignored', messageId: delivery.message.id, type: delivery.message.type })
  sorted.known.push(delivery)
}
