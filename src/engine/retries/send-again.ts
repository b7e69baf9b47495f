import { unpackLetter } from '../../encoding/unpack-letter.ts'
import type { Engine } from '../engine.ts'
import type { Reservation } from './reservation.ts'
import type { Retried } from './retry-due.ts'

/** Puts messages that a broker refused, and that an operator redrove, back into the queues from which they are sent. */
export async function sendAgain<Tx>(engine: Engine<Tx>, reservations: readonly Reservation[]): Promise<Retried> {
  const { store } = engine
  const sent = await store.transaction(async (tx) => {
    const letters = reservations.map(({ letter }) => letter)
    const taken = await store.parking.take(tx, letters)
    // A row that another process holds is left to it, and the rows behind it must not overtake it.
    const end = taken.indexOf(false)
    const ours = end === -1 ? letters : letters.slice(0, end)
    for (const [queue, some] of Map.groupBy(ours, ({ handler }) => handler)) {
      const messages = some.map(({ message }) => ({ key: unpackLetter(message).key, message }))
      await store.queue?.send(tx, queue, messages)
    }
    if (ours.length > 0)
      await store.parking.change(
        tx,
        ours.map(({ handler, key }) => ({ handler, key, kind: 'done' as const })),
      )
    return ours.length
  })
  engine.wake('relay')
  return { untried: reservations.slice(sent), background: [] }
}
