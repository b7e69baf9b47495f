import type { ParkedTicket, StoredParkedMessage } from '../../contracts/index.ts'
import type { Batch } from '../batch/process-batch.ts'
import type { Engine } from '../engine.ts'
import type { Origin, Outcomes, Refusal } from '../items.ts'

/**
 * Locks the parked rows that the works of a batch come from: the lock on a row covers its whole message. Rows that
 * another process has taken meanwhile are left to it. Returns the refusals whose rows are still ours.
 */
export function takeLetters<Tx>(
  engine: Engine<Tx>,
  tx: Tx,
  batch: Batch<Tx>,
  outcomes: Outcomes,
): readonly Refusal[] | Promise<readonly Refusal[]> {
  const { works, refusals } = batch
  const hasRows = works.some(({ origin }) => origin.letter) || refusals.some(({ letter }) => letter)
  return hasRows ? takeRows(engine, tx, batch, outcomes) : refusals
}

async function takeRows<Tx>(
  { store }: Engine<Tx>,
  tx: Tx,
  { works, refusals }: Batch<Tx>,
  outcomes: Outcomes,
): Promise<readonly Refusal[]> {
  const rows = [
    ...works.flatMap(({ origin }) => ticketOf(origin)),
    ...refusals.flatMap(({ letter }) => (letter === undefined ? [] : { letter, ticket: letter })),
  ]
  const known = rows.filter(({ ticket }) => ticket !== undefined)
  const taken = await store.parking.take(
    tx,
    known.map(({ ticket }) => ticket as ParkedTicket),
  )
  const ours = new Set(known.filter((_, index) => taken[index] === true).map(({ letter }) => letter))
  const lost = new Set(rows.map(({ letter }) => letter).filter((letter) => !ours.has(letter)))
  for (const { origin, runs } of works) {
    if (origin.reservation !== undefined) origin.reservation.wasHeld = lost.has(origin.reservation.letter)
    if (origin.letter !== undefined && lost.has(origin.letter))
      for (const run of runs) outcomes[run.index] = { kind: 'elsewhere' }
    else if (origin.reservation?.elsewhere !== undefined)
      for (const run of runs) outcomes[run.index] = origin.reservation.elsewhere
    else if (origin.reservation?.twin !== undefined && lost.has(origin.reservation.twin))
      for (const run of runs) outcomes[run.index] = { kind: 'unstarted' }
  }
  return refusals.filter(({ letter }) => letter === undefined || !lost.has(letter))
}

/** The row at its last known revision; no ticket if another process is known to have it. */
function ticketOf({
  letter,
  reservation,
}: Origin): { readonly letter: StoredParkedMessage; readonly ticket: ParkedTicket | undefined }[] {
  if (letter === undefined) return []
  if (reservation === undefined) return [{ letter, ticket: letter }]
  const { handler, key } = letter
  const { revision, twin } = reservation
  const own = { letter, ticket: revision === undefined ? undefined : { handler, key, revision } }
  return twin === undefined ? [own] : [own, { letter: twin, ticket: twin }]
}
