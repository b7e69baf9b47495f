import { inTime } from '../clock/index.ts'
import type { Clock, JustonceEvent, QueueCount, Store } from '../contracts/index.ts'
import { anyText } from '../encoding/any-text.ts'
import type { ReportedTrouble } from '../facts/index.ts'
import { countParked, operations } from '../operations/index.ts'

export type AppState = 'new' | 'starting' | 'started' | 'stopped'

/** The health of an app, as far as this process knows. */
export interface Health {
  readonly state: AppState
  /** `since`: when this process first saw this state. */
  readonly store: { readonly state: 'up' | 'down'; readonly since: Date; readonly error?: unknown }
  /** The latest trouble with each broker within the last minute. An unavailable broker reports more often than that. */
  readonly from: Readonly<Record<string, { readonly trouble?: Trouble }>>
  /** What waits in the store. `undefined` while the store is down. */
  readonly lag: Lag | undefined
}

/** The last problem that was heard of, and when. */
export interface Trouble {
  readonly at: Date
  readonly message: string
}

/** How much waits: to be sent, for a retry, or for an operator. */
export interface Lag {
  /** Published but not sent yet, for each destination that has any. */
  readonly outgoing: Readonly<Record<string, QueueCount>>
  readonly parked: { readonly waiting: number; readonly dead: number }
}

const troubleForMs = 60_000
/** Notices of brokers from which nothing arrives until they are there again. */
const isAway: ReadonlySet<string> = new Set(['BROKER_UNREACHABLE', 'BROKER_REFUSED'])
/** A heartbeat is small. */
const longestTrouble = 500
/**
 * A query without an answer by then may never get one: its connection may be dead without our knowing. Other
 * connections may work.
 */
const askAgainMs = 10_000
const mostAsked = 3

/** Listens to events and queries the store. A probe must get an answer, whatever is wrong. */
export class HealthWatch {
  readonly #store: Store
  readonly #clock: Clock
  readonly #troubles = new Map<string, Trouble | undefined>()
  readonly #failures = new Map<string, Trouble>()
  #seen: Health['store']
  /** Queries without an answer yet, the latest last. */
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
    if (event.kind === 'transport-notice') {
      this.#trouble(event.transport, event.message)
      if (isAway.has(event.code)) this.#fails(event.transport, event.message)
    }
    if (event.kind !== 'loop-failed') return
    for (const name of this.#troubles.keys())
      if (event.loop === `intake of ${name}`) {
        const message = event.error instanceof Error ? event.error.message : anyText(event.error)
        this.#trouble(name, anyText(event.error))
        this.#fails(name, message)
      }
  }

  /** What could not be read from within the last minute. */
  get failing(): readonly ReportedTrouble[] {
    const oldest = this.#clock.now().getTime() - troubleForMs
    return [...this.#failures].flatMap(([name, { at, message }]) =>
      at.getTime() >= oldest ? [{ name, message: message.slice(0, longestTrouble) }] : [],
    )
  }

  /** Never rejects, and resolves within the given time. */
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

  #fails(name: string, message: string): void {
    if (this.#troubles.has(name)) this.#failures.set(name, { at: this.#clock.now(), message })
  }

  async #within(ms: number): Promise<Lag> {
    const lag = await inTime(this.#ask(), { clock: this.#clock, withinMs: ms })
    if (lag === undefined) throw new Error(`The store has not answered within ${ms} ms.`)
    return lag
  }

  /** Probes that arrive while a query is pending share it: they must not take more and more connections. */
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

/** One after the other, on one connection: a probe must not be what overloads the store. */
async function lagOf(store: Store): Promise<Lag> {
  const waiting = await countParked(store, { state: 'waiting' })
  const dead = await countParked(store, { state: 'dead' })
  return {
    outgoing: store.queue === undefined ? {} : await operations(store).outgoing.waiting(),
    parked: { waiting, dead },
  }
}
