import type {
  Delivery,
  LastWrites,
  NewParkedMessage,
  ParkedChange,
  PublishedMessage,
  RecordChange,
  RecordState,
} from '../../contracts/index.ts'
import { fittedText, plainText } from '../../encoding/fit-text.ts'
import { suspectsOf } from '../../facts/index.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import { asReceived, businessIdIn, type MessageOfBusiness } from '../intake/business-id.ts'
import type { NewIntent } from '../intending/new-intent.ts'
import { type ClaimedIntents, claimIntents, noIntents, writeIntents } from '../intending/store-intents.ts'
import { isUnclaimed, type Outcomes, type Run, type RunOutcome, unclaimedLetter, type Work } from '../items.ts'
import { type Blame, lastWrite } from '../last-write.ts'
import {
  changedLetter,
  failedAgain,
  failedRow,
  refusedRow,
  reusedKeyRow,
  waitingRow,
  waitsFor,
} from '../retries/parked-rows.ts'
import { isRecorded } from './claim.ts'
import type { Batch } from './process-batch.ts'
import { RolledBack } from './rolled-back.ts'

/** Everything that a batch must write besides the handlers' own effects. */
export interface Bookkeeping {
  readonly changes: RecordChange[]
  readonly parked: NewParkedMessage[]
  readonly parkedChanges: ParkedChange[]
  readonly outgoing: PublishedMessage[]
  readonly intents: NewIntent[]
  readonly released: RecordChange[]
  /** Suspects that have been cleared. */
  readonly cleared: string[]
}

export function isNothing(books: Bookkeeping): boolean {
  return Object.values(books).every((each: readonly unknown[]) => each.length === 0)
}

/** `inOrder`: the runs in the order of their calls, which is the order of the messages that they published. */
export function gatherBookkeeping<Tx>(
  engine: Engine<Tx>,
  { works, refusals, settles }: Pick<Batch<Tx>, 'works' | 'refusals' | 'settles'>,
  outcomes: Outcomes,
  inOrder: readonly Run<Tx>[],
): Bookkeeping {
  const at = engine.clock.now()
  const books: Bookkeeping = {
    changes: [],
    parked: [],
    parkedChanges: [],
    outgoing: [],
    intents: [],
    released: [],
    cleared: [],
  }
  for (const refusal of refusals) {
    const change = changedLetter(refusal, at)
    if (change === undefined)
      books.parked.push(named(engine, refusedRow(refusal, at), asReceived(refusal.delivery.message), refusal.form))
    else books.parkedChanges.push(change)
  }
  for (const { index } of inOrder) {
    const outcome = outcomes[index]
    if (outcome?.kind !== 'processed') continue
    books.outgoing.push(...outcome.products.outgoing)
    books.intents.push(...outcome.products.intents)
  }
  for (const work of works) {
    for (const run of work.runs) gatherRun(engine, run, outcomes[run.index] as RunOutcome, at, books)
    const { letter, suspect } = work.origin
    if (!settles || !isHandled(work, outcomes)) continue
    if (suspect !== undefined) books.cleared.push(suspect)
    // A dead letter that had reached no handler has now reached its handlers, and their own rows or records replace it.
    if (letter !== undefined && work.runs.every((run) => run.owner === undefined)) {
      const isStillRefused = books.parkedChanges.some(
        ({ handler, key }) => handler === letter.handler && key === letter.key,
      )
      if (!isStillRefused) books.parkedChanges.push({ handler: letter.handler, key: letter.key, kind: 'done' })
    }
  }
  return books
}

/** Whether no run of this message is left for a later batch. */
export function isHandled<Tx>({ runs }: Work<Tx>, outcomes: Outcomes): boolean {
  for (const run of runs) if (isLeft(outcomes[run.index])) return false
  return true
}

/** Whether anything was written for this run in its transaction. */
export function hadEffect(outcome: RunOutcome | undefined): boolean {
  if (isLeft(outcome) || outcome?.kind === 'duplicate' || outcome?.kind === 'parked') return false
  return !(outcome?.kind === 'expired' && outcome.unclaimed)
}

/** Whether the run, if it has records at all, has one after this outcome. */
export function leavesRecord(outcome: RunOutcome | undefined): boolean {
  return !isLeft(outcome) && !isUnclaimed(outcome) && !(outcome?.kind === 'expired' && outcome.unclaimed)
}

export function isLeft(outcome: RunOutcome | undefined): boolean {
  const kind = outcome?.kind ?? 'unstarted'
  return kind === 'unstarted' || kind === 'apart' || kind === 'elsewhere'
}

/** `isPlain`: the store has refused the row as it was, so its texts must be ASCII. */
function named<Tx>(
  { businessIdOf }: Engine<Tx>,
  row: NewParkedMessage,
  message: MessageOfBusiness,
  isPlain: unknown,
): NewParkedMessage {
  const id = businessIdIn(businessIdOf, message)
  if (id === undefined) return row
  return { ...row, businessId: isPlain ? fittedText(plainText(id)) : id }
}

function gatherRun<Tx>(engine: Engine<Tx>, run: Run<Tx>, outcome: RunOutcome, at: Date, books: Bookkeeping): void {
  const { handler, key } = run.owner ?? { handler: run.handler.name, key: run.key }
  const park = (row: NewParkedMessage): void => void books.parked.push(named(engine, row, run.message, run.isPlain))
  const bornOf = (name: string): Date | undefined => (engine.timeless.has(name) ? undefined : run.born)
  // A message that waited for the time in its id has been claimed by now.
  const isFromRow = run.owner !== undefined || unclaimedLetter(run) !== undefined
  const names = [run.handler.name, ...run.handler.formerly]
  const twin = run.origin.reservation?.twin
  if (twin !== undefined && !isLeft(outcome) && outcome.kind !== 'waiting')
    books.parkedChanges.push({ handler: twin.handler, key: twin.key, kind: 'done' })
  // Under every name that it may be claimed under: processes that know only one of the names must see the same state.
  const mark = (state: RecordState, result?: string): void => {
    if (!isRecorded(run)) return
    // An at-most-once run is recorded in an earlier transaction than it runs in.
    const claimed = run.owner === undefined && run.handler.delivery !== 'at-most-once'
    for (const name of names)
      books.changes.push({ handler: name, key: run.key, state, result, born: bornOf(name), claimed })
  }
  switch (outcome.kind) {
    case 'processed':
      if (isFromRow || outcome.products.result !== undefined) mark('processed', outcome.products.result)
      break
    case 'after-ack':
      if (isFromRow) mark('processed')
      break
    case 'expired':
      if (!outcome.unclaimed) mark('expired')
      break
    case 'failed': {
      const row = run.owner ?? unclaimedLetter(run)
      if (row?.handler === handler) books.parkedChanges.push(failedAgain(row, outcome, at, run.isPlain))
      else park(failedRow(run, outcome, at))
      // The record stays and says that the parked row owns the message, so a late copy is a duplicate of it.
      if (run.owner === undefined && !isUnclaimed(outcome)) mark('parked')
      return
    }
    case 'waiting':
      if (run.owner === undefined) {
        park(waitingRow(run, outcome, at))
        mark('parked')
      }
      return
    case 'key-reused': {
      const row = reusedKeyRow(run, outcome, at)
      const { letter } = run.origin
      if (letter?.key !== row.key || letter.handler !== row.handler) park(row)
      else books.parkedChanges.push({ ...row, kind: 'dead', attempts: letter.attempts + 1 })
      return
    }
    case 'unstarted':
    case 'apart':
      if (isRecorded(run) && run.owner === undefined && !(outcome.kind === 'unstarted' && outcome.unclaimed))
        for (const name of names)
          books.released.push({ handler: name, key, born: bornOf(name), state: 'unclaimed', claimed: true })
      return
    default:
      return
  }
  if (run.owner !== undefined) books.parkedChanges.push({ handler, key, kind: 'done' })
}

/**
 * Writes everything in bulk, with the commit if the store can do that. Most batches have nothing to write, and then this
 * costs nothing. Resolves to what has become of the intents.
 */
export async function writeBookkeeping<Tx>(
  engine: Engine<Tx>,
  feed: Feed,
  { tx, lastWrites, blame }: { readonly tx: Tx; readonly lastWrites: LastWrites | undefined; readonly blame: Blame },
  books: Bookkeeping,
  { done, effective }: { readonly done: readonly Delivery[]; readonly effective: readonly Delivery[] },
): Promise<ClaimedIntents> {
  const { inbox, parking } = engine.store
  // Before the writes that may travel with the commit, because this one has an answer.
  const intended = books.intents.length === 0 ? noIntents : await claimIntents(inbox, tx, books.intents)
  const write = (writing: () => Promise<void>, asError: Blame = same): Promise<void> =>
    lastWrite(lastWrites, writing, (error) => blame(asError(error)))
  const unrecorded: Blame = (error) => unlessTrouble(engine, error, 'unrecorded')
  // A message that only waits for its turn has not failed if it cannot be parked.
  const isWaiting = books.parked.every(({ reason }) => Object.values<string>(waitsFor).includes(reason))
  const unkeepable: Blame = (error) => (isWaiting ? unlessTrouble(engine, error, 'unkeepable') : error)
  const { released, changes, parked, parkedChanges, cleared, outgoing } = books
  if (released.length > 0) await write(() => inbox.update(tx, released))
  if (changes.length > 0) await write(() => inbox.update(tx, changes), unrecorded)
  if (parked.length > 0) await write(() => parking.park(tx, parked), unkeepable)
  if (parkedChanges.length > 0) await write(() => parking.change(tx, parkedChanges))
  if (cleared.length > 0) await write(() => suspectsOf(engine.store).clear(tx, cleared))
  if (outgoing.length > 0) await write(() => engine.outlet.store(tx, outgoing), unrecorded)
  if (intended.rows.length > 0) await write(() => writeIntents(engine.store, tx, intended), unrecorded)
  const { inside } = feed
  if (inside !== undefined && done.length + effective.length > 0) await write(() => inside.settle(tx, done, effective))
  return intended
}

function same(error: unknown): unknown {
  return error
}

/** Writes with reason `unrecorded` hold little of a message: if one fails, it may fail for every message. */
function unlessTrouble<Tx>({ store }: Engine<Tx>, error: unknown, reason: 'unrecorded' | 'unkeepable'): unknown {
  return store.classify(error) === 'none' ? new RolledBack(reason, error) : error
}
