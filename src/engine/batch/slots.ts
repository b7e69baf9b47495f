import type { Handler } from '../handler.ts'

type Limited = Pick<Handler, 'name' | 'concurrency'>

/**
 * Counts the batches that have messages of a handler with `concurrency`; within a batch its messages run one after the other.
 * Checked before a batch is taken, because waiting inside a transaction would hold its locks and its connection.
 */
export class HandlerSlots {
  readonly #taken = new Map<string, number>()
  readonly #listeners = new Set<() => void>()

  /** Whether another batch may have messages of these handlers. */
  areFree(handlers: readonly Limited[]): boolean {
    return handlers.every(
      ({ name, concurrency }) => (this.#taken.get(name) ?? 0) < (concurrency ?? Number.POSITIVE_INFINITY),
    )
  }

  /** Takes slots for one batch. The returned function gives them back. */
  take(handlers: Iterable<Limited>): () => void {
    const names = new Set<string>()
    for (const { name, concurrency } of handlers) if (concurrency !== undefined) names.add(name)
    for (const name of names) this.#taken.set(name, (this.#taken.get(name) ?? 0) + 1)
    return () => {
      for (const name of names) this.#taken.set(name, (this.#taken.get(name) ?? 1) - 1)
      if (names.size > 0) for (const listener of this.#listeners) listener()
    }
  }

  /** Calls the listener whenever slots are given back. The returned function removes the listener. */
  onFreed(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
