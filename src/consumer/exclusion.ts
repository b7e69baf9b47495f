/** Many may run together, or one alone. Work that waits to be alone goes before work that comes later. */
export class Exclusion {
  #running = 0
  #alone: Promise<void> | undefined
  #lastLeft: (() => void) | undefined

  async together<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone
    this.#running++
    try {
      return await work()
    } finally {
      this.#running--
      if (this.#running === 0) this.#lastLeft?.()
    }
  }

  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#alone = promise
    try {
      if (this.#running > 0) await this.#everyoneLeft()
      return await work()
    } finally {
      this.#alone = undefined
      resolve()
    }
  }

  async #everyoneLeft(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#lastLeft = resolve
    await promise
    this.#lastLeft = undefined
  }
}
