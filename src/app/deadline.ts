import type { Clock } from '../contracts/index.ts'

/** Waits for things until its time is up, and remembers which did not end. */
export class Deadline {
  readonly #passed = Promise.withResolvers<void>()
  readonly #timer: { cancel(): void }
  readonly #unfinished = new Set<string>()

  constructor(clock: Clock, withinMs: number) {
    this.#timer = clock.timer(withinMs, () => this.#passed.resolve())
  }

  /** What has not ended in time goes on unheard. */
  async wait(what: string, work: Promise<unknown> | undefined): Promise<void> {
    if (work === undefined) return
    this.#unfinished.add(what)
    // Also of what ends a little later: nobody need worry about that.
    const ended = work.then(() => void this.#unfinished.delete(what))
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
