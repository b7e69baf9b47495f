import type { Clock, JustonceEvent, QueueCount, Store } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import { countParked, operations } from '../operations/index.ts'

export type AppState = 'new' | 'starting' | 'started' | 'stopped'

/** How an app is, as far as this process knows. */
export interface Health {
  readonly state: AppState
  /** `since`: from when on this process has seen it so. */
  readonly store: { readonly state: 'up' | 'down'; readonly since: Date; readonly error?: unknown }
  /** What was last heard from brokers within a minute; a broker that is away is heard of more often than that. */
  readonly from: Readonly<Record<string, { readonly trouble?: Trouble }>>
  /** What waits in the store. Undefined while it is down. */
  readonly lag: Lag | undefined
}

export interface Trouble {
  readonly at: Date
  readonly message: string
}

export interface Lag {
  /** Published and not sent yet, for each destination that has any. */
  readonly outgoing: Readonly<Record<string, QueueCount>>
  readonly parked: { readonly waiting: number; readonly dead: number }
}

const troubleForMs = 60_000
/** What was not answered by then may never be: its connection can be dead, and nobody has been told. Others are not. */
const askAgainMs = 10_000
const mostAsked = 3

/** Hears what happens, and asks the store; a probe must get an answer, whatever is wrong. */
export class HealthWatch {
  readonly #store: Store
  readonly #clock: Clock
  readonly #troubles = new Map<string, Trouble | undefined>()
  #seen: Health['store']
  /** What was asked and not answered yet, the latest at the end. */
  #asking: { readonly at: number; readonly answer: Promise<Lag> }[] = []

  constructor(store: Store, clock: Clock, from: readonly { readonly name: string }[]) {
    this.#store = store
    this.#clock = clock
    this.#seen = { state: 'up', since: clock.now() }
    for (const { name } of from) this.#troubles.set(name, undefined)
  }

  heard(event: JustonceEvent): void {
    if (event.kind === 'store-down') this.#sees('down', event.error)
    if (event.kind === 'store-up') this.#sees('up')
    if (event.kind === 'transport-notice') this.#trouble(event.transport, event.message)
    if (event.kind !== 'loop-failed') return
    for (const name of this.#troubles.keys())
      if (event.loop === `intake of ${name}`) this.#trouble(name, anyText(event.error))
  }

  /** Never rejects, and resolves within the time. */
  async look(state: AppState, withinMs: number): Promise<Health> {
    let lag: Lag | undefined
    try {
      lag = await this.#within(withinMs)
      this.#sees('up')
    } catch (error) {
      this.#sees('down', error)
    }
    return { state, store: this.#seen, from: this.#from(), lag }
  }

  #sees(state: 'up' | 'down', error?: unknown): void {
    if (this.#seen.state === state) return
    const since = this.#clock.now()
    this.#seen = state === 'up' ? { state, since } : { state, since, error }
  }

  #trouble(name: string, message: string): void {
    if (this.#troubles.has(name)) this.#troubles.set(name, { at: this.#clock.now(), message })
  }

  #from(): Health['from'] {
    const oldest = this.#clock.now().getTime() - troubleForMs
    const recent = (trouble: Trouble | undefined) =>
      trouble !== undefined && trouble.at.getTime() >= oldest ? { trouble } : {}
    return Object.fromEntries([...this.#troubles].map(([name, trouble]) => [name, recent(trouble)]))
  }

  async #within(ms: number): Promise<Lag> {
    const { promise: timeIsUp, reject } = Promise.withResolvers<never>()
    const timer = this.#clock.timer(ms, () => reject(new Error(`The store has not answered within ${ms} ms.`)))
    try {
      return await Promise.race([this.#ask(), timeIsUp])
    } finally {
      timer.cancel()
    }
  }

  /** Probes that come while one is waiting wait with it: they must not take more and more connections. */
  #ask(): Promise<Lag> {
    const at = this.#clock.monotonicMs()
    const latest = this.#asking.at(-1)
    if (latest !== undefined && (at - latest.at < askAgainMs || this.#asking.length >= mostAsked)) return latest.answer
    const answer = lagOf(this.#store).finally(() => {
      this.#asking = this.#asking.filter((each) => each.answer !== answer)
    })
    this.#asking.push({ at, answer })
    return answer
  }
}

/** One after the other, on one connection: a probe must not be what the store has no room for. */
async function lagOf(store: Store): Promise<Lag> {
  const waiting = await countParked(store, { state: 'waiting' })
  const dead = await countParked(store, { state: 'dead' })
  return {
    outgoing: store.queue === undefined ? {} : await operations(store).outgoing.waiting(),
    parked: { waiting, dead },
  }
}
