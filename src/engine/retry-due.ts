import type { Delivery, StoredParkedMessage } from '../contracts/index.ts'
import { sameFingerprint } from '../encoding/fingerprint.ts'
import { unpackLetter } from '../encoding/unpack-letter.ts'
import { unrouted } from '../encoding/unrouted.ts'
import { JustonceError } from '../errors/index.ts'
import { afterTheCommit } from './after-the-commit.ts'
import type { Engine } from './engine.ts'
import { handleSorted } from './handle-deliveries.ts'
import { waitsFor } from './parked-rows.ts'
import { prepare } from './prepare.ts'
import { processBatch } from './process-batch.ts'
import { emptyReport } from './report.ts'
import { Reservation, reservedForMs } from './reservation.ts'
import { nothingTaken, nothingYet, place, type SortedOut } from './sort-out.ts'
import type { Source } from './source.ts'
import { unwrapped } from './undone.ts'
import { wantedHere } from './wanted.ts'
import { whyUndone } from './why-undone.ts'
import {
  isOwnedBy,
  isParkedUnclaimed,
  isUnborn,
  type Origin,
  type Run,
  type RunOutcome,
  rowKeyOf,
  type Work,
} from './work.ts'

export interface ReserveOptions {
  readonly limit: number
  readonly maxBytes?: number
  /** Whose messages are left for later. */
  readonly except?: ReadonlySet<string>
}

/** More would only fill the memory. */
const mostBytes = 16 * 1_048_576

/** Reserves parked messages for their next attempt. Without those of handlers whose breaker lets nothing through. */
export async function reserveDue<Tx>(
  engine: Engine<Tx>,
  { limit, maxBytes = mostBytes, except = new Set() }: ReserveOptions,
): Promise<readonly Reservation[]> {
  const letters = await engine.store.parking.reserve({
    limit,
    maxBytes,
    forMs: reservedForMs,
    wanted: wantedHere(engine, (name, handler) => !except.has(name) && engine.breakers.waitMs(handler) === 0),
    pastDead: engine.handlerNames.filter((name) => engine.handlerNamed(name)?.ordered?.whenDead === 'continue'),
  })
  return letters.map((letter) => new Reservation(letter))
}

/** Reserves those that stand directly behind a reserved one of its order key: a pile is worked off in runs. */
export async function reserveBehind<Tx>(
  engine: Engine<Tx>,
  { letter, revision }: Reservation,
  { limit, maxBytes = mostBytes }: ReserveOptions,
): Promise<readonly Reservation[]> {
  if (letter.orderKey === undefined || revision === undefined || limit < 1) return []
  const pastDead = engine.handlerNamed(letter.handler)?.ordered?.whenDead === 'continue'
  const options = { limit, maxBytes, forMs: reservedForMs, pastDead }
  const letters = await engine.store.parking.follow({ ...letter, revision }, options)
  return letters.map((each) => new Reservation(each))
}

export interface Retried {
  /** Their attempt has not come about: a breaker stopped them, or the time of their batch was up. */
  readonly untried: readonly Reservation[]
  /** Hooks that are still running. */
  readonly background: readonly Promise<void>[]
}

type SuspicionOf = (letter: StoredParkedMessage) => Pick<Origin, 'suspect' | 'condemned'>

/**
 * Gives parked messages their next attempt, through the same engine as everything else. Their rows are locked for as
 * long as the attempt takes, so that no other process, redelivery or redrive can meet them.
 */
export async function retryMessages<Tx>(
  engine: Engine<Tx>,
  source: Source,
  reservations: readonly Reservation[],
  suspicionOf: SuspicionOf = () => ({}),
): Promise<Retried> {
  const sorted = nothingYet<Tx>()
  const taken = nothingTaken()
  const reservationOf = new Map<Delivery, Reservation>()
  let next = 0
  for (const reservation of reservations) {
    const work = await restore(engine, reservation, suspicionOf(reservation.letter), sorted, next)
    if (work === undefined) continue
    next = afterThose(work, next)
    reservationOf.set(work.delivery, reservation)
    place(engine, work, taken, sorted)
  }
  const { again, held, stopped, stuck, background } = await handleSorted(engine, source, sorted, emptyReport())
  const untried = [...again, ...held, ...stopped].map((delivery) => {
    const reservation = reservationOf.get(delivery) as Reservation
    reservation.pauseMs = stuck.get(delivery)?.pauseMs ?? 0
    return reservation
  })
  return { untried, background }
}

/**
 * The same for a run of one order key: one after the other, up to the first that stays where it is. Those behind that are
 * left untried, because nothing may overtake it.
 */
export async function retryInOrder<Tx>(
  engine: Engine<Tx>,
  source: Source,
  reservations: readonly Reservation[],
  suspicionOf?: SuspicionOf,
): Promise<Retried> {
  const together = reservations.length > 1 ? await tryTogether(engine, source, reservations, suspicionOf) : undefined
  if (together !== undefined) return together
  const background: Promise<void>[] = []
  for (const [index, reservation] of reservations.entries()) {
    let isGone = false
    const watched: Source = {
      ...source,
      committed(handler, outcome) {
        isGone = isOutOfTheWay(outcome)
        source.committed?.(handler, outcome)
      },
    }
    const retried = await retryMessages(engine, watched, [reservation], suspicionOf)
    background.push(...retried.background)
    if (!isGone) return { untried: [...retried.untried, ...reservations.slice(index + 1)], background }
  }
  return { untried: [], background }
}

/** All of them in one transaction, if nothing goes wrong: undefined when that has to be found out one by one. */
async function tryTogether<Tx>(
  engine: Engine<Tx>,
  source: Source,
  reservations: readonly Reservation[],
  suspicionOf: SuspicionOf = () => ({}),
): Promise<Retried | undefined> {
  const sorted = nothingYet<Tx>()
  const taken = nothingTaken()
  let next = 0
  for (const reservation of reservations) {
    const work = await restore(engine, reservation, suspicionOf(reservation.letter), sorted, next)
    if (work !== undefined) next = afterThose(work, next)
    if (work === undefined || work.runs.some(({ failure }) => failure !== undefined)) return undefined
    // Its copy may be one of the others.
    if (reservation.twin !== undefined) return undefined
    place(engine, work, taken, sorted)
  }
  const { shared: works } = sorted
  if (works.length < reservations.length) return undefined
  try {
    const committed = await processBatch(engine, source, {
      works,
      refusals: [],
      known: [],
      earlier: [],
      settles: true,
      partSize: Number.POSITIVE_INFINITY,
      lockTimeoutMs: engine.timing.batchLockTimeoutMs,
    })
    const report = emptyReport()
    await afterTheCommit(engine, source, committed, report)
    const again = new Set(report.again)
    const untried = works
      .filter(({ delivery }) => again.has(delivery))
      .flatMap(({ origin }) => origin.reservation ?? [])
    return { untried, background: report.background }
  } catch (error) {
    const reason = await whyUndone(engine, error)
    engine.events.emit({ kind: 'undone', reason, error: unwrapped(error), messages: works.length })
    return undefined
  }
}

function isOutOfTheWay({ kind }: RunOutcome): boolean {
  return kind === 'processed' || kind === 'duplicate' || kind === 'expired' || kind === 'after-ack'
}

function afterThose<Tx>({ runs }: Work<Tx>, next: number): number {
  return Math.max(next, ...runs.map(({ index }) => index + 1))
}

async function restore<Tx>(
  engine: Engine<Tx>,
  reservation: Reservation,
  suspicion: Pick<Origin, 'suspect' | 'condemned'>,
  { refusals }: Pick<SortedOut<Tx>, 'refusals'>,
  first: number,
): Promise<Work<Tx> | undefined> {
  const { letter } = reservation
  const origin: Origin = { letter, reservation, ...suspicion }
  const delivery = { message: unpackLetter(letter.message) }
  const prepared = await prepare(engine, delivery, origin, first)
  if (prepared.kind === 'refused') {
    refusals.push(prepared.refusal)
    return undefined
  }
  const found = prepared.kind === 'work' ? prepared.work : { delivery, origin, runs: [] }
  if (letter.handler === unrouted) return found
  const handler = engine.handlerNamed(letter.handler)
  const runs = found.runs.filter((run) => run.handler === handler)
  if (runs.length === 0) {
    const message = `Handler ${letter.handler} no longer takes messages of type ${letter.type}.`
    refusals.push({ delivery, letter, error: new JustonceError('TYPE_UNKNOWN', { message }) })
    return undefined
  }
  // Earlier handlers of the message have their own records and rows, and the store has kept the order.
  Object.assign(reservation, await findCopy(engine, letter, runs[0] as Run<Tx>))
  const isOwned = (run: Run<Tx>): boolean =>
    reservation.twin !== undefined || (reservation.elsewhere === undefined && isOwnedBy(letter, rowKeyOf(run)))
  return { ...found, runs: runs.map((run) => ({ ...run, owner: isOwned(run) ? letter : undefined })) }
}

/**
 * What is from the future, or was too old to know, was parked without a claim: another copy of it may have been processed
 * since, or be parked and have outlived its record.
 */
async function findCopy<Tx>(
  engine: Engine<Tx>,
  letter: StoredParkedMessage,
  run: Run<Tx>,
): Promise<Pick<Reservation, 'elsewhere' | 'twin'>> {
  const none = { elsewhere: undefined, twin: undefined }
  if (!isParkedUnclaimed(letter) || isUnborn(run)) return none
  const { store } = engine
  const keys = [run.handler.name, ...run.handler.formerly].map((handler) => ({ handler, key: run.key }))
  const records = await store.inbox.find(keys)
  const same = records.filter((record) => record !== undefined && sameFingerprint(record.fingerprint, run.fingerprint))
  const processed = same.find((record) => record?.state === 'processed')
  if (processed !== undefined) return { ...none, elsewhere: { kind: 'duplicate', record: processed } }
  for (const row of await store.parking.list({ keys })) {
    if (row.sequence === letter.sequence) continue
    const prepared = await prepare(engine, { message: unpackLetter(row.message) }, { letter: row })
    const copy =
      prepared.kind === 'work' ? prepared.work.runs.find(({ handler }) => handler === run.handler) : undefined
    if (copy === undefined || !sameFingerprint(copy.fingerprint, run.fingerprint)) continue
    return standsBehind(letter, row) ? { ...none, twin: row } : { ...none, elsewhere: { kind: 'parked' } }
  }
  return same.some((record) => record?.state === 'parked') && letter.reason === 'ID_FROM_THE_FUTURE'
    ? { ...none, elsewhere: { kind: 'parked' } }
    : none
}

/** It waits for its turn behind a row of the same message: left to it, the message would lose its place. */
function standsBehind(letter: StoredParkedMessage, row: StoredParkedMessage): boolean {
  const isUntried = row.state === 'waiting' && row.reason === waitsFor.message
  return isUntried && row.orderKey !== undefined && row.orderKey === letter.orderKey && row.sequence > letter.sequence
}
