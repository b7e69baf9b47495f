/** Calls of one borrower that have not settled. */
export class OpenCalls {
  count = 0
  readonly #waiters = new Set<{ resolve(): void; reject(error: unknown): void }>()

  track(call: () => Promise<void>, note: (error: unknown) => void): Promise<void> {
    this.count++
    const run = async (): Promise<void> => {
      try {
        await call()
      } catch (error) {
        this.count--
        note(error)
        this.#tell((waiter) => waiter.reject(error))
        throw error
      }
      this.count--
      if (this.count === 0) this.#tell((waiter) => waiter.resolve())
    }
    const running = run()
    // If nobody awaits the call, settled() reports its error, and it must not end the process.
    running.catch(() => {})
    return running
  }

  settled(): Promise<void> | undefined {
    if (this.count === 0) return undefined
    return new Promise((resolve, reject) => this.#waiters.add({ resolve, reject }))
  }

  #tell(news: (waiter: { resolve(): void; reject(error: unknown): void }) => void): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const waiter of waiters) news(waiter)
  }
}
