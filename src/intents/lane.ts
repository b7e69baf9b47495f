import { intentHandler } from '../encoding/intent-name.ts'
import type { Engine } from '../engine/engine.ts'
import type { Effect } from './effect.ts'
import { Pace } from './pace.ts'
import { Slots } from './slots.ts'

/** How many calls of an effect one process makes at once, unless the effect says otherwise. */
const callsAtOnce = 8
/** When to ask again for a slot that others have. */
const slotAgainMs = 200

/** The lease outlasts the time limit of the call by this much. */
export const leaseMarginMs = 15_000

/** How many calls of one effect this process may make now. */
export class Lane<Tx> {
  readonly effect: Effect
  readonly handler: string
  readonly leaseMs: number
  readonly #engine: Engine<Tx>
  readonly #slots: Slots | undefined
  readonly #pace: Pace | undefined
  #active = 0
  #slotsNotBefore = 0

  constructor(engine: Engine<Tx>, effect: Effect) {
    const { clock, store } = engine
    this.#engine = engine
    this.effect = effect
    this.handler = intentHandler(effect.name)
    this.leaseMs = effect.timeoutMs + leaseMarginMs
    const { name, concurrency, perSecond } = effect
    if (concurrency !== undefined) this.#slots = new Slots(store.facts, name, concurrency, () => clock.random())
    if (perSecond !== undefined) this.#pace = new Pace(store.facts, clock, name, perSecond)
  }

  /** Calls that could start now, as far as this process knows. */
  get places(): number {
    return this.waitMs > 0 ? 0 : this.#room
  }

  get #room(): number {
    return (this.effect.concurrency ?? callsAtOnce) - this.#active
  }

  /** How long nothing at all can start because of the rate, the slots of others or the breaker. */
  get waitMs(): number {
    const { clock, breakers } = this.#engine
    const slotsMs = Math.max(0, this.#slotsNotBefore - clock.monotonicMs())
    return Math.max(slotsMs, this.#pace?.waitMs ?? 0, breakers.waitMs({ name: this.handler }))
  }

  /** Resolves to how many of these calls, which the breaker has admitted, may start now. Each of them must be ended with `leave`. */
  async enter(wanted: number): Promise<number> {
    let count = Math.min(wanted, this.#room)
    if (count > 0 && this.#slots !== undefined) {
      count = Math.min(count, (await this.#slots.hold(this.#active + count, this.leaseMs)) - this.#active)
      if (count < wanted) this.#slotsNotBefore = this.#engine.clock.monotonicMs() + slotAgainMs
    }
    if (count > 0 && this.#pace !== undefined) count = await this.#pace.take(count)
    this.#active += Math.max(0, count)
    return Math.max(0, count)
  }

  leave(): void {
    this.#active--
  }

  /** Frees slots that nothing is called with. */
  async rest(): Promise<void> {
    if (this.#slots !== undefined && this.#slots.held > this.#active) await this.#slots.keep(this.#active)
  }
}
