import type { Execution } from '../batch/executions.ts'

/** A call of a handler that has not ended. */
export interface CallInProgress {
  readonly execution: Execution<never>
  /** By the monotonic clock. */
  readonly since: number
}

/** What the handlers of this process are running, so that operators can see it: a claim that has not committed is visible to nobody else. */
export class CallsInProgress {
  readonly #calls = new Set<CallInProgress>()

  begin<Tx>(execution: Execution<Tx>, since: number): CallInProgress {
    const call = { execution: execution as unknown as Execution<never>, since }
    this.#calls.add(call)
    return call
  }

  end(call: CallInProgress): void {
    this.#calls.delete(call)
  }

  get size(): number {
    return this.#calls.size
  }

  /** Those that have been running longest: a set keeps the order in which calls began. */
  longest(limit: number): readonly CallInProgress[] {
    const longest: CallInProgress[] = []
    for (const call of this.#calls) {
      if (longest.length >= limit) break
      longest.push(call)
    }
    return longest
  }
}
