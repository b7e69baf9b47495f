import type { Engine } from '../engine/engine.ts'
import { suspectsOf } from '../facts/index.ts'
import { type Gate, Loop } from '../loops/loop.ts'
import { learnDelayed } from './learn-delayed.ts'
import { UnknownHandlers } from './unknown-handlers.ts'
import { UnservedDestinations } from './unserved-destinations.ts'

const everyMs = 60_000

/** Periodically looks for what nothing else would ever find again. Every process runs one. */
export function housekeeper<Tx>(engine: Engine<Tx>, gate: Gate): Loop {
  const { clock, store, events } = engine
  const unknown = new UnknownHandlers(engine)
  const unserved = new UnservedDestinations(engine)
  let rounds = 0
  return new Loop({
    name: 'housekeeping',
    clock,
    events,
    gate,
    async round(signal) {
      await unknown.look(signal)
      await unserved.look()
      await learnDelayed(engine)
      if (rounds++ % 60 === 0) await suspectsOf(store).sweep()
      return everyMs * (0.75 + clock.random() / 2)
    },
    afterFailure: { leastMs: everyMs, mostMs: everyMs },
  })
}
