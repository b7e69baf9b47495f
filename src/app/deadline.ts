import type { Clock } from '../contracts/index.ts'

/** Waits for several things until a deadline, and remembers which did not end. */
export class Deadline {
  readonly #passed = Promise.withResolvers<void>()
  readonly #timer: { cancel(): void }
  readonly #unfinished = new Set<string>()

  constructor(clock: Clock, withinMs: number) {
    this.#timer = clock.timer(withinMs, () => this.#passed.resolve())
  }

  /** Work that has not ended in time continues, and its errors are ignored. What has no name is not reported. */
  async wait(what: string | undefined, work: Promise<unknown> | undefined): Promise<void> {
    if (work === undefined) return
    if (what !== undefined) this.#unfinished.add(what)
    // Also for work that ends a little later, so that it is not reported.
    const ended = work.then(() => what !== undefined && this.#unfinished.delete(what))
    ended.catch(() => {})
    await Promise.race([ended, this.#passed.promise])
  }

  get unfinished(): readonly string[] {
    return [...this.#unfinished]
  }

  end(): void {
    this.#timer.cancel()
  }
}
