import { Link, type Network } from './link.ts'
import type { SimProcess } from './process.ts'
import type { Scheduler } from './scheduler.ts'

/** One call that a provider has been asked for. */
export interface OutsideCall {
  readonly effect: string
  /** The message whose handler intended it. */
  readonly of: string
  /** The key that the user gave, or the idempotency key. */
  readonly key: string
  readonly idempotencyKey: string
}

/** Until then a provider may deny what it has done: shorter than anybody waits who asks it. */
const knownAfterMs = 3_000

/** The providers outside: what they have done cannot be undone, and is in no database. */
export class Outside {
  /** What was done. With a key that a provider honours, a repeated call does nothing. */
  readonly done: OutsideCall[] = []
  readonly #scheduler: Scheduler
  readonly #knownAt = new Map<string, number>()

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  do(call: OutsideCall, honoursKeys: boolean): void {
    const name = `${call.effect} ${call.idempotencyKey}`
    if (honoursKeys && this.#knownAt.has(name)) return
    this.#scheduler.note('provider', `DOES ${call.effect} of ${call.of}`)
    this.#knownAt.set(name, this.#scheduler.now + this.#scheduler.random.below(knownAfterMs))
    this.done.push(call)
  }

  knows(effect: string, idempotencyKey: string): boolean {
    return (this.#knownAt.get(`${effect} ${idempotencyKey}`) ?? Number.POSITIVE_INFINITY) <= this.#scheduler.now
  }
}

/** How one process reaches the providers: over a network like any other. */
export interface WayOut {
  /** What a call needs first: a token, say. */
  prepare(): Promise<void>
  call(call: OutsideCall, honoursKeys: boolean): Promise<void>
  ask(effect: string, idempotencyKey: string): Promise<boolean>
}

export function wayOut(process: SimProcess, network: Network, outside: Outside): WayOut {
  const over = <T>(step: string, work: () => T): Promise<T> => new Link(process, network).call(step, work)
  return {
    prepare: () => over('prepare-outside', () => {}),
    call: (call, honoursKeys) => over('call-outside', () => outside.do(call, honoursKeys)),
    ask: (effect, key) => over('ask-outside', () => outside.knows(effect, key)),
  }
}
