import { queueUnder } from '../../encoding/outgoing-queue.ts'
import { unpackLetter } from '../../encoding/unpack-letter.ts'
import type { Engine } from '../engine.ts'
import type { Reservation } from './reservation.ts'
import type { Retried } from './retry-due.ts'

/**
 * Puts messages that were delayed, or that a broker refused and an operator redrove, into the queues from which they are sent. In
 * one transaction, so that none is in both places or in none.
 */
export async function sendAgain<Tx>(engine: Engine<Tx>, reservations: readonly Reservation[]): Promise<Retried> {
  const { store } = engine
  const sent = await store.transaction(async (tx) => {
    const letters = reservations.map(({ letter }) => letter)
    const taken = await store.parking.take(tx, letters)
    // A row that another process holds is left to it, and the rows behind it must not overtake it.
    const end = taken.indexOf(false)
    const ours = end === -1 ? letters : letters.slice(0, end)
    for (const [queue, some] of Map.groupBy(ours, ({ handler }) => queueUnder(handler))) {
      const messages = some.map(({ message }) => ({ key: unpackLetter(message).key, message }))
      await store.queue?.send(tx, queue, messages)
    }
    if (ours.length > 0)
      await store.parking.change(
        tx,
        ours.map(({ handler, key }) => ({ handler, key, kind: 'done' as const })),
      )
    return ours
  })
  engine.outlet.moved(sent.map(({ handler }) => queueUnder(handler)))
  return { untried: reservations.slice(sent.length), background: [] }
}
