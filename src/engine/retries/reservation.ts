import type { ParkedBooking, StoredParkedMessage } from '../../contracts/index.ts'
import type { Batch } from '../batch/process-batch.ts'
import type { Engine } from '../engine.ts'
import type { RunOutcome } from '../items.ts'

/**
 * Covers the time from a booking to the lock that follows it. If the process dies in between, the message is delayed by
 * this much.
 */
export const reservedForMs = 5_000

/** A parked row that is reserved for its next attempt. */
export class Reservation {
  readonly letter: StoredParkedMessage
  /** As last known. `undefined` if another process has the row by now. */
  revision: number | undefined
  /** Set if its message was processed through another copy, or is in another copy's row. */
  elsewhere: (RunOutcome & { kind: 'duplicate' | 'parked' }) | undefined
  /** A copy that was claimed and waits for its turn behind this row. When this row ends, the copy ends with it. */
  twin: StoredParkedMessage | undefined
  /**
   * Another process held the row when it was to be locked. That process owns it now, or held it briefly and left it unchanged.
   */
  wasHeld = false
  /** How long it must wait when it is given back, if it could be neither handled nor changed. */
  pauseMs = 0
  /** The answer to a booking was lost, so we do not know whether its attempt counts as begun. */
  isUnsure = false

  constructor(letter: StoredParkedMessage) {
    this.letter = letter
    this.revision = letter.revision
  }
}

/**
 * Counts the attempts of a batch as begun, before any of its handlers runs: if the process dies now, the rows show it. A
 * message that waits for its turn has not begun, and a batch that is run again has begun only once. `undefined` if none of them
 * comes from a row, or all have begun already.
 */
export function beginAttempts<Tx>(
  { store }: Engine<Tx>,
  { works, hasBegun }: Pick<Batch<Tx>, 'works' | 'hasBegun'>,
  forMs = reservedForMs,
): Promise<void> | undefined {
  if (hasBegun) return undefined
  const reservations = works.flatMap(({ origin, runs }) =>
    origin.reservation !== undefined &&
    origin.reservation.elsewhere === undefined &&
    runs.some(({ failure, expired }) => failure === undefined && !expired)
      ? origin.reservation
      : [],
  )
  return reservations.length === 0 ? undefined : rebook(store.parking, reservations, 1, forMs)
}

/** Counts attempts as begun that may take this long. Those whose revision is `undefined` then belong to another process. */
export async function beginFor<Tx>(
  { store }: Pick<Engine<Tx>, 'store'>,
  reservations: readonly Reservation[],
  forMs: number,
): Promise<void> {
  await rebook(store.parking, reservations, 1, forMs)
}

/** Keeps rows reserved for this long without beginning an attempt. */
export async function keepFor<Tx>(
  { store }: Pick<Engine<Tx>, 'store'>,
  reservations: readonly Reservation[],
  forMs: number,
): Promise<void> {
  await rebook(store.parking, reservations, 0, forMs)
}

/** Gives back rows that were not tried. They are due immediately or after their pause, and no attempt is counted. */
export async function giveBack<Tx>(
  { store }: Pick<Engine<Tx>, 'store'>,
  reservations: readonly Reservation[],
): Promise<void> {
  for (const [pauseMs, some] of Map.groupBy(reservations, (each) => each.pauseMs))
    await rebook(store.parking, some, 0, pauseMs)
}

/**
 * Keeps the rows reserved for as long as the work takes: otherwise other processes would take them, and lose them in the
 * same way.
 */
export async function whileReserved<Tx, T>(
  { store, clock }: Engine<Tx>,
  reservations: readonly Reservation[],
  work: () => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const keep = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await clock.sleep(reservedForMs / 2, over.signal)
      // If that fails, another process may get them, and that shows when their attempts begin.
      if (!over.signal.aborted) await rebook(store.parking, reservations, 0, reservedForMs).catch(() => {})
    }
  }
  const kept = keep()
  try {
    return await work()
  } finally {
    over.abort()
    await kept
  }
}

async function rebook<Tx>(
  parking: Pick<Engine<Tx>['store']['parking'], 'rebook' | 'list'>,
  reservations: readonly Reservation[],
  more: 0 | 1,
  forMs: number,
): Promise<void> {
  await findOut(
    parking,
    reservations.filter(({ isUnsure }) => isUnsure),
  )
  const held = reservations.filter(({ revision }) => revision !== undefined)
  if (held.length === 0) return
  const bookings: ParkedBooking[] = held.map(({ letter, revision }) => ({
    handler: letter.handler,
    key: letter.key,
    revision: revision as number,
    begun: letter.begun + more,
  }))
  // Until the answer arrives: any error from here on may have happened after the commit.
  for (const reservation of held) reservation.isUnsure = more > 0
  const revisions = await parking.rebook(bookings, forMs)
  held.forEach((reservation, index) => {
    reservation.revision = revisions[index]
    reservation.isUnsure = false
  })
}

/** If a row says that one more attempt has begun than when we reserved it, that was our booking, not a crash. */
async function findOut<Tx>(
  parking: Pick<Engine<Tx>['store']['parking'], 'list'>,
  unsure: readonly Reservation[],
): Promise<void> {
  for (const reservation of unsure) {
    const { handler, key, begun } = reservation.letter
    const [row] = await parking.list({ kind: 'any', handler, key, state: 'waiting' }, { limit: 1 })
    if (row?.begun === begun + 1) reservation.revision = row.revision
    reservation.isUnsure = false
  }
}
