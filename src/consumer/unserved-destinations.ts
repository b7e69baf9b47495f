import { destinationOf, isOutgoing } from '../encoding/outgoing-queue.ts'
import type { Engine } from '../engine/engine.ts'
import { ReportNowAndThen } from './report-now-and-then.ts'

/** A process that serves a destination sends what waits for it within seconds. */
const sentWithinMs = 90_000

/** Finds messages that were published to a destination that no running process serves. They stay where they are. */
export class UnservedDestinations<Tx> {
  readonly #engine: Engine<Tx>
  readonly #report: ReportNowAndThen

  constructor(engine: Engine<Tx>) {
    this.#engine = engine
    this.#report = new ReportNowAndThen(engine.clock)
  }

  async look(): Promise<void> {
    const { store, outlet, events } = this.#engine
    if (store.queue === undefined) return
    const waiting = new Map<string, number>()
    for (const queue of await store.queue.queues()) {
      if (!isOutgoing(queue) || outlet.servedHere.includes(queue)) continue
      const { ready, hidden, oldestMs = 0 } = await store.queue.count(queue)
      if (oldestMs >= sentWithinMs) waiting.set(destinationOf(queue), ready + hidden)
    }
    if (this.#report.isDue(waiting))
      events.emit({ kind: 'destinations-unserved', waiting: Object.fromEntries(waiting) })
  }
}
