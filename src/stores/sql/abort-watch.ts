/** How late an abort may be noticed. Most transactions have ended by then, and a listener costs them as much as a statement. */
const patienceMs = 20

/** Watches the abort signal of one transaction. */
export class AbortWatch {
  readonly #signal: AbortSignal | undefined
  readonly #timer: NodeJS.Timeout | undefined
  #give: ((reason: unknown) => void) | undefined

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
    if (signal === undefined) return
    signal.throwIfAborted()
    this.#timer = setTimeout(() => {
      if (signal.aborted) this.#onAbort()
      else signal.addEventListener('abort', this.#onAbort)
    }, patienceMs)
  }

  get aborted(): boolean {
    return this.#signal?.aborted ?? false
  }

  readonly #onAbort = (): void => this.#give?.(this.#signal?.reason)

  throwIfAborted(): void {
    this.#signal?.throwIfAborted()
  }

  /** Settles like the promise, or rejects with the signal's reason soon after the abort. Supports one promise at a time. */
  until<T>(promise: Promise<T>): Promise<T> {
    if (this.#signal === undefined) return promise
    return new Promise((resolve, reject) => {
      this.#give = reject
      // Whoever writes no types may give work that returns no promise.
      Promise.resolve(promise).then(resolve, reject)
      if (this.aborted) this.#onAbort()
    })
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#signal?.removeEventListener('abort', this.#onAbort)
  }
}
