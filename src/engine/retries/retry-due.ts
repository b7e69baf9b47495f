import type { Delivery, StoredParkedMessage } from '../../contracts/index.ts'
import { sameFingerprint } from '../../encoding/fingerprint.ts'
import { isForQueue } from '../../encoding/outgoing-queue.ts'
import { unpackLetter } from '../../encoding/unpack-letter.ts'
import { unrouted } from '../../encoding/unrouted.ts'
import { JustonceError } from '../../errors/index.ts'
import { handleItems } from '../batch/handle-items.ts'
import type { Engine } from '../engine.ts'
import type { Feed } from '../feed.ts'
import { type Prepared, prepare } from '../intake/prepare.ts'
import { isOfSameContent } from '../intake/same-content.ts'
import { Sorting, type SuspicionOf } from '../intake/sort-out.ts'
import { isOwnedBy, isParkedUnclaimed, isUnborn, type Origin, type Run, rowKeyOf } from '../items.ts'
import { waitsFor } from './parked-rows.ts'
import { Reservation, reservedForMs, whileReserved } from './reservation.ts'
import { outgoingNames, wantedHere } from './wanted.ts'

export interface ReserveOptions {
  readonly limit: number
  readonly maxBytes?: number
  /** Handlers whose messages are left for later. */
  readonly except?: ReadonlySet<string>
}

/** More would only fill the memory. */
const mostBytes = 16 * 1_048_576

/** Reserves parked messages for their next attempt, except those of handlers whose breaker admits nothing. */
export async function reserveDue<Tx>(
  engine: Engine<Tx>,
  { limit, maxBytes = mostBytes, except = new Set() }: ReserveOptions,
): Promise<readonly Reservation[]> {
  const letters = await engine.store.parking.reserve({
    limit,
    maxBytes,
    forMs: reservedForMs,
    wanted: wantedHere(engine, (name, handler) => {
      return !except.has(name) && (handler === undefined || engine.breakers.waitMs(handler) === 0)
    }),
    pastDead: [...engine.handlerNames, ...outgoingNames(engine)].filter((name) => goesPastDead(engine, name)),
  })
  return letters.map((letter) => new Reservation(letter))
}

/** Reserves the messages directly behind a reserved one of the same order key, so that a backlog is handled in batches. */
export async function reserveBehind<Tx>(
  engine: Engine<Tx>,
  { letter, revision }: Reservation,
  { limit, maxBytes = mostBytes }: ReserveOptions,
): Promise<readonly Reservation[]> {
  if (letter.orderKey === undefined || revision === undefined || limit < 1) return []
  const letters = await engine.store.parking.reserve({
    behind: { ...letter, revision },
    limit,
    maxBytes,
    forMs: reservedForMs,
    pastDead: goesPastDead(engine, letter.handler),
  })
  return letters.map((each) => new Reservation(each))
}

/** A message that a broker refused for good does not block the messages behind it, whether they are sent or redriven. */
function goesPastDead<Tx>(engine: Engine<Tx>, name: string): boolean {
  return isForQueue(name) || engine.handlerNamed(name)?.ordered?.whenDead === 'continue'
}

export interface Retried {
  /** Not attempted: a breaker stopped them, or the time of their batch was up. */
  readonly untried: readonly Reservation[]
  /** `afterCommit` hooks that are still running. */
  readonly background: readonly Promise<void>[]
}

/**
 * Gives parked messages their next attempt, through the same engine as everything else. Their rows are locked during
 * the attempt, so that no other process, redelivery or redrive can interfere. Messages of one order key are tried in
 * order, up to the first that stays parked: those behind it are left untried.
 */
export async function retryMessages<Tx>(
  engine: Engine<Tx>,
  feed: Feed,
  reservations: readonly Reservation[],
  suspicionOf: SuspicionOf<StoredParkedMessage> = () => ({}),
): Promise<Retried> {
  const sorting = new Sorting(engine, feed)
  const reservationOf = new Map<Delivery, Reservation>()
  const restored = await whileReserved(engine, reservations, () => restoreAll(engine, reservations, suspicionOf))
  for (const { reservation, delivery, prepared } of restored) {
    reservationOf.set(delivery, reservation)
    sorting.add(delivery, asReserved(prepared, reservation))
  }
  const { again, held, stopped, stuck, down, background } = await handleItems(engine, feed, sorting.sorted)
  if (down !== undefined) throw down.error
  const untried = [...again, ...held, ...stopped].map((delivery) => {
    const reservation = reservationOf.get(delivery) as Reservation
    reservation.pauseMs = stuck.get(delivery)?.pauseMs ?? 0
    return reservation
  })
  // A row that another process took cannot be given back. The others must be: they would wait for nothing, and their attempt
  // would look like a crash.
  const passedBy = reservations.filter(({ wasHeld }) => wasHeld)
  return { untried: [...new Set([...untried, ...passedBy])], background }
}

interface Restored<Tx> {
  readonly reservation: Reservation
  readonly delivery: Delivery
  readonly prepared: Prepared<Tx>
}

/** Codecs and schemas may be slow. */
async function restoreAll<Tx>(
  engine: Engine<Tx>,
  reservations: readonly Reservation[],
  suspicionOf: SuspicionOf<StoredParkedMessage>,
): Promise<readonly Restored<Tx>[]> {
  const restored: Restored<Tx>[] = []
  let runs = 0
  for (const reservation of reservations) {
    const delivery = { message: unpackLetter(reservation.letter.message) }
    const prepared = await restore(engine, reservation, delivery, suspicionOf(reservation.letter), runs)
    if (prepared.kind === 'work') runs = Math.max(runs, ...prepared.work.runs.map(({ index }) => index + 1))
    restored.push({ reservation, delivery, prepared })
  }
  return restored
}

/** A refusal must change the row at its current revision. */
function asReserved<Tx>(prepared: Prepared<Tx>, { letter, revision = letter.revision }: Reservation): Prepared<Tx> {
  if (prepared.kind !== 'refused') return prepared
  return { kind: 'refused', refusal: { ...prepared.refusal, letter: { ...letter, revision } } }
}

async function restore<Tx>(
  engine: Engine<Tx>,
  reservation: Reservation,
  delivery: Delivery,
  suspicion: Pick<Origin, 'suspect' | 'condemned'>,
  first: number,
): Promise<Prepared<Tx>> {
  const { letter } = reservation
  const edited = await prepare(engine, delivery, { letter, reservation, ...suspicion }, first)
  const prepared = await knownAsReceived(engine, letter, edited)
  if (prepared.kind !== 'work' || letter.handler === unrouted) return prepared
  const { work } = prepared
  const handler = engine.handlerNamed(letter.handler)
  const runs = work.runs.filter((run) => run.handler === handler)
  if (runs.length === 0) {
    const message = `Handler ${letter.handler} no longer takes messages of type ${letter.type}.`
    const error = new JustonceError('TYPE_UNKNOWN', { message })
    return { kind: 'refused', refusal: { delivery, letter, error } }
  }
  // Earlier handlers of the message have their own records and rows, and the store keeps the order.
  Object.assign(reservation, await findCopy(engine, letter, runs[0] as Run<Tx>))
  const isOwned = (run: Run<Tx>): boolean =>
    reservation.twin !== undefined || (reservation.elsewhere === undefined && isOwnedBy(letter, rowKeyOf(run)))
  const owned = runs.map((run) => ({ ...run, owner: isOwned(run) ? letter : undefined }))
  return { kind: 'work', work: { ...work, runs: owned } }
}

/** An edited message is claimed with the content that was received, so that a late copy of that is a duplicate. */
async function knownAsReceived<Tx>(
  engine: Engine<Tx>,
  { message, originalBody: body }: StoredParkedMessage,
  edited: Prepared<Tx>,
): Promise<Prepared<Tx>> {
  if (edited.kind !== 'work' || body === undefined) return edited
  const received = await prepare(engine, { message: unpackLetter({ ...message, body }) }, {})
  // Perhaps it could not be read before it was edited. Then its copies cannot be read either.
  if (received.kind !== 'work') return edited
  const runs = edited.work.runs.map((run) => {
    const same = received.work.runs.find(({ handler, key }) => handler === run.handler && key === run.key)
    return same === undefined ? run : { ...run, fingerprint: same.fingerprint }
  })
  return { kind: 'work', work: { ...edited.work, runs } }
}

/**
 * A message from the future, or one too old to know, was parked without a claim. Another copy of it may have been
 * processed since, or be parked and have outlived its record.
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
  const same = records.filter((record) => record !== undefined && isOfSameContent(record, run))
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

/**
 * Whether `row` waits for its turn behind `letter`, which is a row of the same message. If the message were left to
 * `row`, it would lose its place.
 */
function standsBehind(letter: StoredParkedMessage, row: StoredParkedMessage): boolean {
  const isUntried = row.state === 'waiting' && row.reason === waitsFor.message
  return isUntried && row.orderKey !== undefined && row.orderKey === letter.orderKey && row.sequence > letter.sequence
}
