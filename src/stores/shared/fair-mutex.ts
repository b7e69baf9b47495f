import type { Clock } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'

export interface WaitOptions {
  /** The longest total wait. If omitted, the wait continues for as long as turns keep changing hands. */
  readonly giveUpAfterMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

interface Waiter {
  take(): void
  refuse(error: unknown): void
}

/** Gives turns one at a time, in the order of asking, for a connection or a memory that two transactions cannot share. */
export class FairMutex {
  readonly #clock: Pick<Clock, 'timer' | 'monotonicMs'>
  readonly #patienceMs: number
  readonly #waiting = new Set<Waiter>()
  #heldSince: number | undefined
  #closed: { readonly error: Error; readonly idle: PromiseWithResolvers<void> } | undefined

  /** `patienceMs` is how long one holder may keep the others waiting. A longer turn suggests a transaction nested in another. */
  constructor(clock: Pick<Clock, 'timer' | 'monotonicMs'>, patienceMs: number) {
    this.#clock = clock
    this.#patienceMs = patienceMs
  }

  get idle(): boolean {
    return this.#heldSince === undefined
  }

  /** Resolves to a function that ends the turn. */
  async acquire(options: WaitOptions = {}): Promise<() => void> {
    if (this.#closed !== undefined) throw this.#closed.error
    options.signal?.throwIfAborted()
    if (this.#heldSince === undefined) return this.#take()
    return this.#wait(options)
  }

  /** Rejects all current and later waiters. Resolves when the last holder is done. */
  async close(error: Error): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = { error, idle: Promise.withResolvers<void>() }
      for (const waiter of [...this.#waiting]) waiter.refuse(error)
      if (this.#heldSince === undefined) this.#closed.idle.resolve()
    }
    await this.#closed.idle.promise
  }

  #take(): () => void {
    this.#heldSince = this.#clock.monotonicMs()
    let done = false
    return () => {
      if (done) return
      done = true
      this.#heldSince = undefined
      const [next] = this.#waiting
      if (next !== undefined) next.take()
      else this.#closed?.idle.resolve()
    }
  }

  #wait({ giveUpAfterMs, signal }: WaitOptions): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const begun = this.#clock.monotonicMs()
      let timer: { cancel(): void } | undefined
      const leave = (): void => {
        this.#waiting.delete(waiter)
        timer?.cancel()
        signal?.removeEventListener('abort', abort)
      }
      const waiter: Waiter = {
        take: () => {
          leave()
          resolve(this.#take())
        },
        refuse: (error) => {
          leave()
          reject(error)
        },
      }
      const abort = (): void => waiter.refuse(signal?.reason)
      const look = (): void => {
        const until =
          giveUpAfterMs === undefined
            ? Math.max(begun, this.#heldSince ?? begun) + this.#patienceMs
            : begun + giveUpAfterMs
        const now = this.#clock.monotonicMs()
        if (now >= until) waiter.refuse(keptWaiting(now - begun))
        else timer = this.#clock.timer(until - now, look)
      }
      this.#waiting.add(waiter)
      signal?.addEventListener('abort', abort)
      look()
    })
  }
}

function keptWaiting(ms: number): JustonceError {
  return new JustonceError('STORE_BUSY', {
    message:
      `Waited ${Math.round(ms)} ms for another transaction of this store to end; ` +
      'if that one waits for this one, join it with store.within(tx) instead.',
  })
}
