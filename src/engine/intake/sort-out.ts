import type { Delivery } from '../../contracts/index.ts'
import { isRecorded } from '../batch/claim.ts'
import { duplicateEvent } from '../batch/duplicate-event.ts'
import { hintedRuns } from '../batch/hinted.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import { type Item, letterOf, type Origin, type Run, rowKeyOf, type Work } from '../items.ts'
import { chainOf, LeftChains } from '../order/chain.ts'
import { follows, partitionId } from '../positions/partition-moves.ts'
import { markOf } from './position-mark.ts'
import { type Prepared, prepare } from './prepare.ts'

/** Deliveries, sorted by what must be done with them. */
export interface SortedOut<Tx> {
  /** Handled together in one transaction. */
  readonly shared: Item<Tx>[]
  /** Each handled in its own transactions. */
  readonly alone: Item<Tx>[]
  /** A message with the same key is already in this batch. The next batch will show what that means for this one. */
  readonly again: Delivery[]
  /** One of their handlers fails on every message. */
  readonly stopped: Delivery[]
}

/**
 * Called for each delivery that a breaker keeps from all its handlers. If it returns true, the delivery is left to the
 * caller, who retries it. If false, the delivery is parked without an attempt, because others need the room or wait
 * behind it.
 */
export type HoldsBack = (delivery: Delivery) => boolean

export type SuspicionOf<Of = Delivery> = (of: Of) => Pick<Origin, 'suspect' | 'condemned'>

export async function sortOut<Tx>(
  engine: Engine<Tx>,
  feed: Feed,
  deliveries: readonly Delivery[],
  suspicionOf: SuspicionOf,
  holdsBack?: HoldsBack,
): Promise<SortedOut<Tx>> {
  const sorting = new Sorting(engine, feed, holdsBack)
  const marks = feed.positions?.dedup === 'position'
  const all: { readonly delivery: Delivery; readonly prepared: Prepared<Tx> }[] = []
  let runs = 0
  for (const delivery of deliveries) {
    const origin: Origin = marks ? { mark: markOf(delivery), ...suspicionOf(delivery) } : suspicionOf(delivery)
    const answer = prepare(engine, delivery, origin, runs)
    const prepared = answer instanceof Promise ? await answer : answer
    if (prepared.kind === 'work') runs += prepared.work.runs.length
    all.push({ delivery, prepared })
  }
  const canBeHinted = engine.hints !== undefined && canBeKnown(feed)
  const works = canBeHinted ? all.flatMap(({ prepared }) => (prepared.kind === 'work' ? prepared.work : [])) : []
  const hinted = works.length === 0 ? undefined : await hintedRuns(engine, works)
  for (const { delivery, prepared } of all) sorting.add(delivery, prepared, hinted)
  return sorting.sorted
}

/**
 * Whether a memory outside the store may call its messages duplicates. Not where the database itself brings them: one that was
 * restored a moment ago brings back messages whose effects it has lost, before anybody has asked it for its epoch.
 */
function canBeKnown({ positions, inside }: Feed): boolean {
  return positions === undefined && inside === undefined
}

export class Sorting<Tx> {
  readonly sorted: SortedOut<Tx> = { shared: [], alone: [], again: [], stopped: [] }
  readonly #engine: Engine<Tx>
  readonly #feed: Feed
  readonly #holdsBack: HoldsBack
  /** Keys that are taken, by handler name. */
  readonly #claims = new Map<string, Set<string>>()
  /** Chains of which something is left: the rest must not overtake it. */
  readonly #left: LeftChains<Tx, 'again' | 'stopped'>
  /** Chains of which something is handled alone, and therefore after everything that is handled together. */
  readonly #alone = new Set<string | undefined>()
  /** The last delivery of each partition. */
  readonly #last = new Map<string, Delivery>()

  constructor(engine: Engine<Tx>, feed: Feed, holdsBack: HoldsBack = () => true) {
    this.#engine = engine
    this.#feed = feed
    this.#holdsBack = holdsBack
    this.#left = new LeftChains(feed)
  }

  add(delivery: Delivery, prepared: Prepared<Tx>, hinted?: ReadonlySet<Run<Tx>>): void {
    const inPartitions = this.#feed.positions !== undefined
    if (inPartitions && this.#isBehindInItsPartition({ delivery })) return
    if (prepared.kind === 'refused') this.#refuse({ delivery, refusal: prepared.refusal })
    else if (prepared.kind === 'ignored') this.#ignore(delivery)
    else if (canBeKnown(this.#feed) && this.#isKnown(prepared.work, hinted)) this.#know(prepared.work)
    else this.#place({ delivery, work: prepared.work }, prepared.work)
  }

  /** A partition is handled up to the first delivery that must wait or that does not follow the one before it. */
  #isBehindInItsPartition(item: Item<Tx>): boolean {
    const { delivery } = item
    const partition = partitionId(delivery)
    const before = this.#last.get(partition)
    this.#last.set(partition, delivery)
    // Deliveries that were read again come after what is left of the previous reading, which must be settled first.
    if (before !== undefined && !follows(delivery, before)) this.#left.leave(item, 'again')
    return this.#left.without([item], this.sorted).length === 0
  }

  /** A row that is refused stays where it is. */
  #refuse(item: Item<Tx>): void {
    if (letterOf(item) === undefined) this.sorted.shared.push(item)
    else if (this.#left.without([item], this.sorted).length > 0) {
      this.sorted.shared.push(item)
      this.#left.leave(item, 'again')
    }
  }

  #place(item: Item<Tx>, work: Work<Tx>): void {
    if (work.runs.some((run) => this.#isTaken(run))) {
      this.sorted.again.push(item.delivery)
      // A position moves past everything before it, and rows are taken in order. Other copies block nothing.
      if (this.#feed.positions !== undefined || work.origin.letter !== undefined) this.#left.leave(item, 'again')
      return
    }
    if (this.#left.without([item], this.sorted).length === 0) return
    const admitted = admit(this.#engine, work, this.#holdsBack)
    if (admitted === undefined) {
      this.sorted.stopped.push(item.delivery)
      this.#left.leave(item, 'stopped')
      return
    }
    for (const run of admitted.runs) this.#take(run)
    const isAlone = this.#mustBeAlone(admitted) || this.#followsOneAlone(item)
    if (isAlone) this.#alone.add(chainOf(this.#feed, item))
    this.sorted[isAlone ? 'alone' : 'shared'].push({ ...item, work: admitted })
  }

  #isTaken(run: Run<Tx>): boolean {
    return this.#claims.get(run.handler.name)?.has(rowKeyOf(run)) ?? false
  }

  #take(run: Run<Tx>): void {
    const { name } = run.handler
    const keys = this.#claims.get(name)
    if (keys === undefined) this.#claims.set(name, new Set([rowKeyOf(run)]))
    else keys.add(rowKeyOf(run))
  }

  #followsOneAlone(item: Item<Tx>): boolean {
    const chain = this.#alone.size === 0 ? undefined : chainOf(this.#feed, item)
    return chain !== undefined && this.#alone.has(chain)
  }

  #mustBeAlone({ origin, runs }: Work<Tx>): boolean {
    if (this.#feed.positions !== undefined) return false
    // Its copy may be among the other items.
    if (origin.reservation?.twin !== undefined) return true
    return !this.#engine.store.capabilities.revocable || runs.some(({ handler }) => handler.transaction !== 'shared')
  }

  #isKnown({ origin, runs }: Work<Tx>, hinted: ReadonlySet<Run<Tx>> | undefined): boolean {
    if (origin.letter !== undefined) return false
    return runs.every((run) => {
      const { handler, key, fingerprint } = run
      const isHinted = hinted?.has(run) === true
      return isRecorded(run) && (isHinted || this.#engine.recent.knows({ handler: handler.name, key }, fingerprint))
    })
  }

  #know({ delivery, runs }: Work<Tx>): void {
    for (const run of runs) this.#engine.events.emit(duplicateEvent(run, 'cache'))
    this.sorted.shared.push({ delivery })
  }

  #ignore(delivery: Delivery): void {
    const { id: messageId, type } = delivery.message
    this.#engine.events.emit({ kind: 'ignored', messageId, type })
    this.sorted.shared.push({ delivery })
  }
}

/**
 * The work as far as breakers admit it. Handlers are admitted one by one; if some are stopped and the message can go on
 * otherwise, the stopped runs are parked. `undefined` if nothing of it can go on and it is held back.
 */
function admit<Tx>(engine: Engine<Tx>, work: Work<Tx>, holdsBack: HoldsBack): Work<Tx> | undefined {
  const stopped = work.runs.filter((run) => !isLetThrough(engine, run))
  const [firstStopped] = stopped
  if (firstStopped === undefined) return work
  const first = work.runs.indexOf(firstStopped)
  // Handlers that are not independent wait behind the first one that is stopped.
  const goesOn = work.runs.some((run, place) => !stopped.includes(run) && (place < first || run.handler.independent))
  if (work.origin.letter !== undefined || (!goesOn && holdsBack(work.delivery))) return undefined
  const origin: Origin = { ...work.origin, parksStopped: true }
  return { ...work, origin, runs: work.runs.map((run) => ({ ...run, origin })) }
}

/** Runs that are known to fail need no admission, because they are not run. */
function isLetThrough<Tx>({ breakers }: Engine<Tx>, { failure, expired, handler, key }: Run<Tx>): boolean {
  return failure !== undefined || expired || breakers.admits(handler, key)
}
