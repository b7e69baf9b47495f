import type { ServerTransaction } from './server-transaction.ts'

interface Waiter {
  readonly transaction: ServerTransaction
  granted(): void
}

/** Exclusive row locks, held until the transaction ends. Waiting in a circle is a deadlock, and the newcomer its victim. */
export class Locks {
  readonly #holders = new Map<string, ServerTransaction>()
  readonly #waiters = new Map<string, Waiter[]>()
  readonly #waitsFor = new Map<ServerTransaction, string>()

  /** How many transactions hold something. */
  get holders(): number {
    return new Set(this.#holders.values()).size
  }

  holderOf(row: string): ServerTransaction | undefined {
    return this.#holders.get(row)
  }

  /** True if it is ours at once. Otherwise `granted` is called when it is, unless `withdraw` comes first. */
  acquire(row: string, transaction: ServerTransaction, granted: () => void): boolean {
    const holder = this.#holders.get(row)
    if (holder === undefined || holder === transaction) {
      this.#holders.set(row, transaction)
      transaction.locked.add(row)
      return true
    }
    const queue = this.#waiters.get(row) ?? []
    queue.push({ transaction, granted })
    this.#waiters.set(row, queue)
    this.#waitsFor.set(transaction, row)
    return false
  }

  wouldDeadlock(row: string, transaction: ServerTransaction): boolean {
    let next: string | undefined = row
    while (next !== undefined) {
      const holder = this.#holders.get(next)
      if (holder === undefined) return false
      if (holder === transaction) return true
      next = this.#waitsFor.get(holder)
    }
    return false
  }

  withdraw(row: string, transaction: ServerTransaction): void {
    this.#waitsFor.delete(transaction)
    const queue = this.#waiters.get(row)
    const index = queue?.findIndex((waiter) => waiter.transaction === transaction) ?? -1
    if (index >= 0) queue?.splice(index, 1)
  }

  /** Gives up one row: a conflicting insert does not keep the row that it met. */
  release(row: string, transaction: ServerTransaction): void {
    if (this.#holders.get(row) !== transaction) return
    transaction.locked.delete(row)
    this.#holders.delete(row)
    const next = this.#waiters.get(row)?.shift()
    if (next === undefined) return
    this.#waitsFor.delete(next.transaction)
    this.#holders.set(row, next.transaction)
    next.transaction.locked.add(row)
    next.granted()
  }

  releaseAll(transaction: ServerTransaction): void {
    const waitedFor = this.#waitsFor.get(transaction)
    if (waitedFor !== undefined) this.withdraw(waitedFor, transaction)
    for (const row of [...transaction.locked]) this.release(row, transaction)
  }
}
