import type { Clock, Events } from '../contracts/index.ts'
import { JustonceError } from '../errors/index.ts'
import type { Handler } from './handler.ts'
import { isThenable } from './is-thenable.ts'

/**
 * Runs the hooks that handlers registered with `afterCommit`. Only callers that choose to wait for a hook do so: a hook
 * that never ends must not block a loop or the end of the process.
 */
export class Hooks {
  readonly #clock: Clock
  readonly #events: Pick<Events, 'emit'>
  readonly #running = new Set<Promise<void>>()
  /** Stops waiting for each of the running hooks. */
  readonly #giveUp = new Set<() => void>()

  constructor(clock: Clock, events: Pick<Events, 'emit'>) {
    this.#clock = clock
    this.#events = events
  }

  /** Runs hooks one after the other, each with the time limit of its handler. Resolves when they have ended or were given up. */
  start(handler: Pick<Handler, 'name' | 'timeoutMs'>, hooks: readonly (() => unknown)[]): Promise<void> {
    const running = this.#runAll(handler, hooks).finally(() => this.#running.delete(running))
    this.#running.add(running)
    return running
  }

  /** Waits for the running hooks, but no longer than this. The others are reported and abandoned. */
  async end(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return
    const all = Promise.all(this.#running)
    if (await this.#within(all, withinMs)) return
    for (const giveUp of this.#giveUp) giveUp()
    await all
  }

  async #runAll({ name, timeoutMs }: Pick<Handler, 'name' | 'timeoutMs'>, hooks: readonly (() => unknown)[]) {
    for (const hook of hooks) {
      try {
        const result = hook()
        if (!isThenable(result)) continue
        if (!(await this.#within(result, timeoutMs))) this.#failed(name, givenUp(name, timeoutMs))
      } catch (error) {
        this.#failed(name, error)
      }
    }
  }

  /** Whether the work ended in time; rejects if it rejects. What happens later is ignored. */
  async #within(work: PromiseLike<unknown>, ms: number): Promise<boolean> {
    const { promise: timeIsUp, resolve } = Promise.withResolvers<boolean>()
    const giveUp = () => resolve(false)
    const timer = this.#clock.timer(ms, giveUp)
    this.#giveUp.add(giveUp)
    try {
      return await Promise.race([Promise.resolve(work).then(() => true), timeIsUp])
    } finally {
      timer.cancel()
      this.#giveUp.delete(giveUp)
    }
  }

  #failed(handler: string, error: unknown): void {
    this.#events.emit({ kind: 'after-commit-failed', handler, error })
  }
}

function givenUp(handler: string, timeoutMs: number): JustonceError {
  const message = `A hook that handler ${handler} registered with afterCommit() has not ended within ${timeoutMs} ms, or before the app was stopped.`
  return new JustonceError('HOOK_TIMEOUT', { message, details: { handler } })
}
