import type { Clock, Events } from '../../contracts/index.ts'
import type { Handler } from '../handler.ts'

interface Breaker {
  /** Keys of the messages that have failed since the last success. */
  readonly failing: Set<string>
  open: { until: number; pauseMs: number; trial: string | undefined } | undefined
}

export interface BreakerState {
  readonly breaker: 'closed' | 'open'
  readonly paused: 'app' | 'operator' | undefined
}

const longestPauseMs = 60_000
/** How often a handler that an operator has paused is checked. When it is resumed, all listeners are notified. */
const lookAgainMs = 1_000

/**
 * Stops giving messages to a handler when all of them fail, so that a bad deploy does not turn a queue into parked
 * messages. While a breaker is open, one message is admitted now and then; the first success closes it.
 */
export class Breakers {
  readonly #clock: Clock
  readonly #events: Events
  readonly #breakers = new Map<string, Breaker>()
  readonly #paused = new Set<string>()
  /** Paused in all processes. */
  #pausedByOperators: ReadonlySet<string> = new Set()
  readonly #listeners = new Set<() => void>()

  constructor(clock: Clock, events: Events) {
    this.#clock = clock
    this.#events = events
  }

  /** Whether the handler may be given this message now. A message that was admitted as a trial stays admitted. */
  admits({ name }: Pick<Handler, 'name'>, key: string): boolean {
    if (this.#isPaused(name)) return false
    const open = this.#breakers.get(name)?.open
    if (open === undefined || open.trial === key) return true
    const now = this.#clock.monotonicMs()
    if (now < open.until) return false
    open.trial = key
    open.until = now + open.pauseMs
    open.pauseMs = Math.min(open.pauseMs * 2, longestPauseMs)
    return true
  }

  /** Acts like an open breaker that admits nothing until `resume`. Runs that have started are finished. */
  pause({ name }: Pick<Handler, 'name'>): void {
    this.#paused.add(name)
  }

  resume({ name }: Pick<Handler, 'name'>): void {
    if (this.#paused.delete(name) && !this.#isPaused(name)) for (const listener of this.#listeners) listener()
  }

  /** The same for all handlers that operators have paused in all processes. Returns whether one of them may go on now. */
  obeyOperators(paused: ReadonlySet<string>): boolean {
    const before = this.#pausedByOperators
    this.#pausedByOperators = paused
    const isResumed = [...before].some((name) => !this.#isPaused(name))
    if (isResumed) for (const listener of this.#listeners) listener()
    return isResumed
  }

  /** For operators: whether a handler gets messages in this process, and if not, why. */
  stateOf({ name }: Pick<Handler, 'name'>): BreakerState {
    return {
      breaker: this.#breakers.get(name)?.open === undefined ? 'closed' : 'open',
      paused: this.#pausedByOperators.has(name) ? 'operator' : this.#paused.has(name) ? 'app' : undefined,
    }
  }

  /**
   * Calls the listener whenever a breaker closes, so that held messages can go on. The returned function removes the
   * listener.
   */
  onClosed(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** How long nothing at all will be admitted; 0 if at least one message would be. */
  waitMs({ name }: Pick<Handler, 'name'>): number {
    if (this.#isPaused(name)) return lookAgainMs
    const open = this.#breakers.get(name)?.open
    return open === undefined ? 0 : Math.max(0, open.until - this.#clock.monotonicMs())
  }

  failed({ name, breaker: policy }: Pick<Handler, 'name' | 'breaker'>, key: string, error: unknown): void {
    if (policy === undefined) return
    let breaker = this.#breakers.get(name)
    if (breaker === undefined) {
      breaker = { failing: new Set(), open: undefined }
      this.#breakers.set(name, breaker)
    }
    if (breaker.open !== undefined) {
      breaker.open.trial = undefined
      return
    }
    breaker.failing.add(key)
    if (breaker.failing.size < policy.after) return
    breaker.open = { until: this.#clock.monotonicMs() + policy.pauseMs, pauseMs: policy.pauseMs * 2, trial: undefined }
    this.#events.emit({ kind: 'breaker-opened', handler: name, failures: breaker.failing.size, error })
  }

  /** This message was refused for good, which says nothing about others: if it was the trial, another one may be tried at once. */
  refused({ name }: Pick<Handler, 'name'>, key: string): void {
    const open = this.#breakers.get(name)?.open
    if (open?.trial !== key) return
    open.trial = undefined
    open.until = this.#clock.monotonicMs()
  }

  succeeded({ name }: Pick<Handler, 'name'>): void {
    const breaker = this.#breakers.get(name)
    if (breaker === undefined) return
    this.#breakers.delete(name)
    if (breaker.open === undefined) return
    this.#events.emit({ kind: 'breaker-closed', handler: name })
    for (const listener of this.#listeners) listener()
  }

  #isPaused(name: string): boolean {
    return this.#paused.has(name) || this.#pausedByOperators.has(name)
  }
}
