import type { Engine } from '../engine/engine.ts'

/**
 * Finds out for which queues other apps have stored delayed messages. Any process can put them into their queues when they are due,
 * so they do not depend on the app that published them; if nobody sends them from there, that is reported like for all others.
 */
export async function learnDelayed<Tx>({ store, outlet }: Pick<Engine<Tx>, 'store' | 'outlet'>): Promise<void> {
  if (store.queue === undefined) return
  const found = await store.parking.tally({ kind: 'delayed' }, ['handler'])
  outlet.learnDelayed(found.map(({ handler }) => handler))
}
