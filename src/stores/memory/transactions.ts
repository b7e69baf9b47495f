import type { Loan, LoanOptions, TransactionOptions } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { unlessAborted } from '../shared/unless-aborted.ts'
import type { MemoryDatabase } from './memory-database.ts'
import { closedTxError, lentTx, type MemoryTransaction, type MemoryTx, transactionOf } from './memory-tx.ts'

/** The transactions of one store, one after another, on a database that it may share. */
export class Transactions {
  readonly database: MemoryDatabase
  readonly #running = new Set<Promise<unknown>>()
  #closed = false

  constructor(database: MemoryDatabase) {
    this.database = database
  }

  run<T>(work: (tx: MemoryTx) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#turn(options, async (transaction) => {
      const check = (): void => {
        if (transaction.ended) throw closedTxError('The transaction')
      }
      const value = await unlessAborted(async () => work(lentTx({ transaction, check })), options.signal)
      options.signal?.throwIfAborted()
      return value
    })
  }

  /** Runs a transaction of the store itself. */
  short<T>(work: (transaction: MemoryTransaction) => T): Promise<T> {
    return this.#turn({}, async (transaction) => work(transaction))
  }

  /** Reads what is committed, without waiting for an open transaction. */
  async read<T>(look: (database: MemoryDatabase) => T): Promise<T> {
    this.#refuseWhenClosed()
    return look(this.database)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled([...this.#running])
  }

  async #turn<T>(options: TransactionOptions, work: (transaction: MemoryTransaction) => Promise<T>): Promise<T> {
    this.#refuseWhenClosed()
    const { database } = this
    const endTurn = await database.turns.acquire(options)
    const transaction: MemoryTransaction = { database, partDepth: undefined, sentTo: new Set(), ended: false }
    let isCommitted = false
    database.push()
    const running = (async () => {
      this.#refuseWhenClosed()
      const value = await work(transaction)
      transaction.ended = true
      database.keepTo(0)
      isCommitted = true
      return value
    })()
    this.#running.add(running)
    try {
      return await running
    } finally {
      transaction.ended = true
      // After a commit there is nothing left to roll back.
      database.undoTo(0)
      this.#running.delete(running)
      endTurn()
      if (isCommitted) for (const queue of transaction.sentTo) wakeListeners(database, queue)
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw new JustonceError('STORE_CLOSED', { message: 'The memory store is closed.' })
  }
}

export function wakeListeners(database: MemoryDatabase, queue: string): void {
  for (const listener of database.listeners) if (listener.queue === queue) queueMicrotask(() => listener.wake())
}

export function lend(tx: MemoryTx, { borrower, onLateCall }: LoanOptions): Loan<MemoryTx> {
  const transaction = transactionOf(tx)
  let ended = false
  const check = (): void => {
    if (!ended && !transaction.ended) return
    const error = closedTxError(`The handler '${borrower}'`)
    onLateCall(error)
    throw error
  }
  return {
    tx: lentTx({ transaction, check }),
    // Every call ends before it returns, nothing can end the transaction, and nothing can fail.
    settled: () => undefined,
    end() {
      ended = true
      return { openCalls: 0, broken: undefined, trouble: 'none' }
    },
  }
}
