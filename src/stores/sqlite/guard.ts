import type { StoreTrouble } from '../../contracts/index.ts'
import { controlError, endedInsideError, lateCallError, notInterleavable } from '../sql/loan-errors.ts'
import { Savepoints } from '../sql/savepoints.ts'
import { findTransactionControl } from '../sql/transaction-control.ts'
import { findSessionChange } from './session-change.ts'
import { sharedIn } from './shared-in.ts'
import { inTransaction, isOpen, type SqliteDatabase } from './sqlite-database.ts'
import { classify, closedError, explained } from './sqlite-errors.ts'
import { dropTempObjectsSince, mayMakeTempObject, tempObjects } from './temp-objects.ts'

export interface GuardOptions {
  readonly database: SqliteDatabase
  /** The user of the connection as it appears in messages: `the handler 'tag-note'`. */
  readonly borrower: string
  onLateCall?(error: Error): void
  /** Statements of other borrowers may run between those of this one. */
  readonly interleaved?: boolean | undefined
  /** The guard of the loan that this one was lent from: when that ends, so does this one. */
  readonly parent?: Guard | undefined
}

/** Checks every call that a borrower makes on a connection. */
export class Guard {
  readonly database: SqliteDatabase
  readonly #options: GuardOptions
  #openIterators: Set<Iterator<unknown>> | undefined
  #onEnd: (() => void) | undefined
  /** The contents of the temporary schema before the borrower may have added to it. */
  #tempBefore: ReadonlyMap<string, unknown> | undefined
  #savepoints: Savepoints | undefined
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
      this.failed(error)
      throw error
    }
  }

  /** Called with the error that a call of the borrower has thrown. */
  failed(error: unknown): void {
    this.#note(error)
    this.#lookAtEnd(error)
  }

  /** Throws if the statement would end the transaction, or change the connection for its next user. */
  checkText(sql: unknown): void {
    if (typeof sql !== 'string') return
    const keyword = findTransactionControl(sql)
    if (keyword !== undefined) this.refuse(keyword)
    const change = findSessionChange(sql)
    if (change !== undefined) this.decline(change)
    if (mayMakeTempObject(sql)) this.#tempBefore ??= tempObjects(this.database)
  }

  /** Throws if other borrowers of an interleaved transaction would notice the statement, or the statement them. */
  checkShared(sql: unknown): void {
    if (this.#options.interleaved !== true || typeof sql !== 'string') return
    const what = sharedIn(sql)
    if (what === undefined) return
    this.#broken ??= notInterleavable(this.#options.borrower, what)
    throw this.#broken
  }

  /** Throws if the statement, which is about to run, would roll back to a savepoint that the borrower has not made. */
  checkSavepoints(sql: string): void {
    this.#savepoints ??= new Savepoints({ sameNameReplaces: false })
    const foreign = this.#savepoints.foreign(sql)
    if (foreign !== undefined) this.refuse(foreign)
  }

  /** For what would end the transaction. After the attempt it must not be committed, even if the handler swallows the error. */
  refuse(what: string): never {
    this.check()
    this.#broken = controlError(this.#options.borrower, what)
    throw this.#broken
  }

  /** For what is not allowed on a lent connection but does no harm: the borrower may continue without it. */
  decline(what: string): never {
    this.check()
    throw controlError(this.#options.borrower, what)
  }

  /** An unfinished iterator keeps the connection busy, so it is closed with the loan. */
  watch(iterator: Iterator<unknown>): void {
    this.#openIterators ??= new Set()
    this.#openIterators.add(iterator)
  }

  finished(iterator: Iterator<unknown>): void {
    this.#openIterators?.delete(iterator)
  }

  /** When the listener is called, the borrower can no longer reach the connection. There is only one listener. */
  onEnd(listener: () => void): void {
    this.#onEnd = listener
  }

  broken(): Error | undefined {
    if (!this.ended) this.#lookAtEnd(undefined)
    return this.#broken
  }

  /** The meaning of the worst failed call. */
  trouble(): StoreTrouble {
    return this.#trouble
  }

  end(): void {
    this.broken()
    const wasEnded = this.ended
    this.#ended = true
    for (const iterator of this.#openIterators ?? []) {
      try {
        iterator.return?.()
      } catch {
        // It belongs to a transaction that is over.
      }
    }
    this.#openIterators = undefined
    this.#onEnd?.()
    this.#onEnd = undefined
    if (wasEnded) return
    this.#releaseSavepoints()
    this.#dropTempObjects()
  }

  /** Someone else who uses their names would roll back the borrower's work. */
  #releaseSavepoints(): void {
    const left = this.#savepoints?.left ?? []
    if (left.length === 0 || this.#broken !== undefined || !inTransaction(this.database)) return
    try {
      this.database.exec(left.join('; '))
    } catch (error) {
      this.#breakAll(
        endedInsideError(`the savepoints were released that were left by ${this.#options.borrower}`, error),
      )
    }
  }

  /** They would hide tables from later borrowers. */
  #dropTempObjects(): void {
    if (this.#tempBefore === undefined || !inTransaction(this.database)) return
    try {
      dropTempObjectsSince(this.database, this.#tempBefore)
    } catch (error) {
      this.#breakAll(
        endedInsideError(`the temporary tables were removed that were left by ${this.#options.borrower}`, error),
      )
    }
  }

  #breakAll(error: Error): void {
    this.#broken ??= error
    const { parent } = this.#options
    if (parent !== undefined) parent.#breakAll(error)
  }

  #note(error: unknown): void {
    const trouble = classify(error)
    if (trouble === 'unavailable' || this.#trouble === 'none') this.#trouble = trouble
  }

  /** SQLite ends transactions by itself: ON CONFLICT ROLLBACK, RAISE(ROLLBACK), a full disk. What follows would autocommit. */
  #lookAtEnd(cause: unknown): void {
    if (this.#broken !== undefined || inTransaction(this.database)) return
    if (!isOpen(this.database)) this.#broken = closedError(cause)
    else if (classify(cause) === 'unavailable') this.#broken = explained(cause) as Error
    else this.#broken = endedInsideError(this.#options.borrower, cause)
  }

  #lateCall(): Error {
    const error = lateCallError(this.#options.borrower)
    this.#options.onLateCall?.(error)
    return error
  }
}
