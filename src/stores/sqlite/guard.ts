import type { StoreTrouble } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { findTransactionControl } from '../sql/transaction-control.ts'
import { inTransaction, isOpen, type SqliteDatabase } from './sqlite-database.ts'
import { classify, closedError, explained } from './sqlite-errors.ts'

export interface GuardOptions {
  readonly database: SqliteDatabase
  /** Who uses it, as it stands in messages: `The handler 'tag-note'`. */
  readonly borrower: string
  onLateCall?(error: Error): void
  /** The guard of what was lent on: once that has ended, so has this. */
  readonly parent?: Guard | undefined
}

/** Stands before every call that a borrower makes on a connection. */
export class Guard {
  readonly database: SqliteDatabase
  readonly #options: GuardOptions
  readonly #openIterators = new Set<Iterator<unknown>>()
  readonly #ending: (() => void)[] = []
  #ended = false
  #broken: Error | undefined
  #trouble: StoreTrouble = 'none'

  constructor(options: GuardOptions) {
    this.database = options.database
    this.#options = options
  }

  get ended(): boolean {
    return this.#ended || (this.#options.parent?.ended ?? false)
  }

  /** Throws unless the borrower may use the transaction now. */
  check(): void {
    if (this.ended) throw this.#lateCall()
    const broken = this.broken()
    if (broken !== undefined) {
      this.#note(broken)
      throw broken
    }
  }

  call<T>(run: () => T): T {
    this.check()
    try {
      return run()
    } catch (error) {
      this.#note(error)
      this.#lookAtEnd(error)
      throw error
    }
  }

  refuseControl(sql: unknown): void {
    const keyword = typeof sql === 'string' ? findTransactionControl(sql) : undefined
    if (keyword !== undefined) this.refuse(keyword)
  }

  /** For what would end the transaction: after the attempt nothing of it may be committed, even if it was swallowed. */
  refuse(what: string): never {
    this.check()
    this.#broken = this.#controlError(what)
    throw this.#broken
  }

  /** For what does not fit a connection that is only lent; it does no harm to go on without it. */
  decline(what: string): never {
    this.check()
    throw this.#controlError(what)
  }

  /** An unfinished iterator keeps the connection busy: it is closed with the loan. */
  watch(iterator: Iterator<unknown>): void {
    this.#openIterators.add(iterator)
  }

  finished(iterator: Iterator<unknown>): void {
    this.#openIterators.delete(iterator)
  }

  /** Nothing of the borrower can reach the connection when it is called. */
  onEnd(listener: () => void): void {
    this.#ending.push(listener)
  }

  broken(): Error | undefined {
    if (!this.ended) this.#lookAtEnd(undefined)
    return this.#broken
  }

  /** What the worst failed call meant. */
  trouble(): StoreTrouble {
    return this.#trouble
  }

  end(): void {
    this.broken()
    this.#ended = true
    for (const iterator of this.#openIterators) {
      try {
        iterator.return?.()
      } catch {
        // It belongs to a transaction that is over.
      }
    }
    this.#openIterators.clear()
    for (const listener of this.#ending.splice(0)) listener()
  }

  #note(error: unknown): void {
    const trouble = classify(error)
    if (trouble === 'unavailable' || this.#trouble === 'none') this.#trouble = trouble
  }

  /** SQLite ends transactions on its own: ON CONFLICT ROLLBACK, RAISE(ROLLBACK), a full disk. What follows would autocommit. */
  #lookAtEnd(cause: unknown): void {
    if (this.#broken !== undefined || inTransaction(this.database)) return
    if (!isOpen(this.database)) this.#broken = closedError(cause)
    else if (classify(cause) === 'unavailable') this.#broken = explained(cause) as Error
    else
      this.#broken = new JustonceError('TX_ENDED', {
        message: `The transaction ended while ${this.#options.borrower} used it.`,
        cause,
      })
  }

  #controlError(what: string): JustonceError {
    return new JustonceError('TX_CONTROL', {
      message: `${capital(this.#options.borrower)} called ${what} on the transaction it was lent.`,
    })
  }

  #lateCall(): JustonceError {
    const error = new JustonceError('TX_CLOSED', {
      message: `${capital(this.#options.borrower)} used tx after it had settled.`,
    })
    this.#options.onLateCall?.(error)
    return error
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
