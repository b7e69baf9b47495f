import type { Engine } from '../engine/engine.ts'
import { checkPublished } from '../engine/publishing/check-published.ts'
import { encodeOutgoing } from '../engine/publishing/outgoing.ts'
import { JustonceError } from '../errors/index.ts'
import { derivedId } from '../ids/index.ts'
import type { Destinations } from '../outgoing/destinations.ts'
import { decideSchedule, type Schedule, type ScheduleOptions } from '../schedules/schedule.ts'
import type { SchedulerParts } from '../schedules/scheduler.ts'

/** The schedules of an app. */
export class Schedules {
  readonly all: Schedule[] = []
  readonly #engine: Pick<Engine<never>, 'clock' | 'schemaOf' | 'codecOf' | 'businessIdOf'>
  readonly #destinations: Pick<Destinations, 'check'>

  constructor(
    engine: Pick<Engine<never>, 'clock' | 'schemaOf' | 'codecOf' | 'businessIdOf'>,
    destinations: Pick<Destinations, 'check'>,
  ) {
    this.#engine = engine
    this.#destinations = destinations
  }

  add(name: string, options: ScheduleOptions): void {
    const schedule = decideSchedule(name, options)
    if (this.all.some((each) => each.name === name))
      throw new JustonceError('SCHEDULE_INVALID', { message: `There is already a schedule with the name ${name}.` })
    this.all.push(schedule)
  }

  /** Rejects if what a schedule publishes has no route, or does not fit its schema: nobody would be there to see it later. */
  async check(): Promise<void> {
    for (const schedule of this.all) {
      this.#destinations.check(schedule.type)
      await checkPublished(this.#engine, this.parts.messageOf(schedule, this.#engine.clock.now()))
    }
  }

  get parts(): Pick<SchedulerParts, 'schedules' | 'messageOf'> {
    return { schedules: this.all, messageOf: (schedule, tick) => this.#messageOf(schedule, tick) }
  }

  #messageOf({ name, type, body, key, headers }: Schedule, tick: Date) {
    // A process that makes the same tick again, after its database was restored, makes the same message.
    const id = derivedId(['schedule', name, type, tick.toISOString()], tick)
    const options = { id, ...(key !== undefined && { key }), ...(headers !== undefined && { headers }) }
    const { businessIdOf } = this.#engine
    return encodeOutgoing({ type, body, options, now: tick, codec: this.#engine.codecOf(type), businessIdOf })
  }
}
