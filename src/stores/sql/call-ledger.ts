import type { Loan, LoanOptions, LoanReport, StoreTrouble } from '../../contracts/index.ts'
import { controlError, endedInsideError, lateCallError, notInterleavable } from './loan-errors.ts'
import { rejected } from './rejected.ts'
import { type SavepointRules, Savepoints } from './savepoints.ts'

/** What all loans of one transaction have in common. Created once, because loans are many. */
export interface LedgerSite {
  /** Whether the transaction has ended, even if the loan has not. */
  isOver(): boolean
  /** The error if the connection is lost. */
  lost?(): Error | undefined
  /** Whether the client has seen the transaction end. */
  hasEnded?(): boolean
  onCall?(): void
  /** Returns the statements that restore what a borrower has changed in the session. Absent if the session is the caller's. */
  restore?(names: readonly string[]): readonly string[]
  /** Called before a statement that changes these settings is sent. */
  beforeChange?(names: readonly string[]): void
  /** Called before a statement creates something that belongs to the session and outlives the transaction. */
  onLeft?(): void
  /** Whether any call may change session settings, whatever its text says. */
  readonly changesUnseen?: boolean | undefined
  /** Runs our own statements in the borrower's transaction, bypassing the ledger. */
  tidy(statements: readonly string[]): Promise<unknown>
}

/** The rules of one database and one client library. */
export interface LedgerRules {
  classify(error: unknown): StoreTrouble
  findTransactionControl(sql: string): string | undefined
  /** Whether the transaction no longer exists after a call has failed with this error. */
  endedBy(error: unknown): boolean
  /** Whether a call that failed with this error may make later statements of the session fail as well. */
  spoils?(error: unknown): boolean
  /** Like `endedBy`, for a call that succeeded: a procedure may have committed. */
  endedWith?(result: unknown): boolean
  readonly savepoints: SavepointRules
  /** What in a statement the other borrowers of an interleaved transaction would notice, or would change for it. */
  sharedIn?(sql: string): string | undefined
  /** Whether a statement creates something that belongs to the session and may outlive the transaction. */
  leavesSomething?(sql: string): boolean
  /** The session settings that a statement changes, if borrowers may not change them or we must restore them afterwards. */
  sessionChange?(sql: string): { readonly refused?: string | undefined; readonly names: readonly string[] } | undefined
}

/** A call in progress. */
export interface Call {
  succeeded(result?: unknown): void
  failed(error: unknown): void
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

const noWaiters: Waiter[] = []

/** A loan whose state the store can read before it ends. */
export interface LedgerLoan<Tx> extends Loan<Tx> {
  report(): Omit<LoanReport, 'tidied'>
}

/** Tracks the calls of one borrower and refuses those that are not allowed. It works with every client library. */
export class CallLedger {
  readonly #options: LoanOptions
  readonly #site: LedgerSite
  readonly #rules: LedgerRules
  #waiters: Waiter[] = noWaiters
  #open = 0
  #ended = false
  #broken: Error | undefined
  #trouble: StoreTrouble = 'none'
  readonly #savepoints: Savepoints
  #changed: Set<string> | undefined

  constructor(options: LoanOptions, site: LedgerSite, rules: LedgerRules) {
    this.#options = options
    this.#site = site
    this.#rules = rules
    this.#savepoints = new Savepoints(rules.savepoints)
  }

  /** Returns why a call with this text may not be made now, or `undefined` if it may. Then its effects are recorded. */
  refusal(sql: string | undefined): Error | undefined {
    const refusal =
      this.preparing(sql) ?? this.#sharedText(sql) ?? this.#foreignSavepoint(sql) ?? this.#refusedChange(sql)
    if (refusal === undefined && sql !== undefined && this.#rules.leavesSomething?.(sql)) this.#site.onLeft?.()
    return refusal
  }

  #sharedText(sql: string | undefined): Error | undefined {
    if (this.#options.interleaved !== true) return undefined
    const what = sql === undefined ? undefined : this.#rules.sharedIn?.(sql)
    if (what !== undefined) return this.shared(what)
    return this.#site.changesUnseen === true ? this.shared('a database whose functions change settings') : undefined
  }

  /**
   * Refuses what other borrowers of an interleaved transaction would notice. The loan is then broken: what the borrower does
   * without it is not what it does when it is alone. `undefined` if nobody else uses the transaction now.
   */
  shared(what: string): Error | undefined {
    if (this.#options.interleaved !== true) return undefined
    this.#broken ??= notInterleavable(this.#borrower, what)
    return this.#broken
  }

  #foreignSavepoint(sql: string | undefined): Error | undefined {
    const foreign = sql === undefined ? undefined : this.#savepoints.foreign(sql)
    return foreign === undefined ? undefined : this.controlled(foreign)
  }

  /** The call is refused, but the transaction stays usable: the borrower may continue without it. */
  #refusedChange(sql: string | undefined): Error | undefined {
    if (sql === undefined || this.#site.restore === undefined) return undefined
    const change = this.#rules.sessionChange?.(sql)
    if (change === undefined) return undefined
    if (change.refused !== undefined) return controlError(this.#borrower, change.refused)
    this.#site.beforeChange?.(change.names)
    this.#changed ??= new Set()
    for (const name of change.names) this.#changed.add(name)
    return undefined
  }

  /** Like `refusal`, for a statement that is only prepared. */
  preparing(sql: string | undefined): Error | undefined {
    if (this.#ended || this.#site.isOver()) return this.#lateCall()
    const lost = this.#site.lost?.()
    if (lost !== undefined) return this.#note(lost)
    // While a call is in progress, the transaction status that the client last saw is outdated.
    if (this.#open === 0 && this.#site.hasEnded?.()) this.#endedInside(undefined)
    if (this.#broken !== undefined) return this.#broken
    const control = sql === undefined ? undefined : this.#rules.findTransactionControl(sql)
    return control === undefined ? undefined : this.controlled(control)
  }

  /** After such an attempt the transaction must not be committed, even if the handler swallows the error. */
  controlled(what: string): Error {
    if (this.#ended || this.#site.isOver()) return this.#lateCall()
    this.#broken ??= controlError(this.#borrower, what)
    return this.#broken
  }

  begin(): Call {
    let isOpen = true
    this.#open++
    this.#site.onCall?.()
    if (this.#site.changesUnseen === true) this.#changed ??= new Set()
    const settle = (): boolean => {
      if (!isOpen) return false
      isOpen = false
      this.#open--
      return true
    }
    return {
      succeeded: (result) => {
        if (!settle()) return
        if (this.#rules.endedWith?.(result)) this.#endedInside(undefined)
        if (this.#open === 0) this.#tell((waiter) => waiter.resolve())
      },
      failed: (error) => {
        if (!settle()) return
        this.#note(error)
        if (this.#rules.spoils?.(error)) this.#site.onLeft?.()
        if (this.#rules.endedBy(error)) this.#endedInside(error)
        this.#tell((waiter) => waiter.reject(error))
      },
    }
  }

  /** Tracks a call that returns a promise, unless it is refused. */
  watched<T>(sql: string | undefined, run: () => Promise<T>, refusal = this.refusal(sql)): Promise<T> {
    if (refusal !== undefined) return rejected(refusal)
    const result = run()
    const call = this.begin()
    // This also prevents an unhandled rejection if nobody awaits the call, because the loan reports its failure.
    result.then(call.succeeded, call.failed)
    return result
  }

  loan<Tx>(tx: Tx): LedgerLoan<Tx> {
    const report = () => ({ openCalls: this.#open, broken: this.#broken, trouble: this.#trouble })
    return { tx, report, settled: () => this.#settled(), end: () => ({ tidied: this.#end(), ...report() }) }
  }

  #end(): Promise<void> | undefined {
    const isFirst = !this.#ended
    this.#ended = true
    const changed = this.#changed === undefined ? [] : (this.#site.restore?.([...this.#changed]) ?? [])
    const left = [...this.#savepoints.left, ...changed]
    if (!isFirst || left.length === 0 || this.#open > 0 || this.#broken !== undefined) return undefined
    return this.#site.isOver() || this.#site.lost?.() !== undefined ? undefined : this.#tidy(left)
  }

  async #tidy(left: readonly string[]): Promise<void> {
    try {
      await this.#site.tidy(left)
    } catch (error) {
      this.#note(error)
      if (this.#rules.endedBy(error)) this.#endedInside(error)
      throw this.#broken ?? error
    }
  }

  #settled(): Promise<void> | undefined {
    if (this.#open === 0) return undefined
    return new Promise((resolve, reject) => {
      this.#waiters = [...this.#waiters, { resolve, reject }]
    })
  }

  #tell(news: (waiter: Waiter) => void): void {
    const waiters = this.#waiters
    this.#waiters = noWaiters
    for (const waiter of waiters) news(waiter)
  }

  #note<E>(error: E): E {
    const trouble = this.#rules.classify(error)
    if (trouble === 'unavailable' || this.#trouble === 'none') this.#trouble = trouble
    return error
  }

  get #borrower(): string {
    return `the handler ${JSON.stringify(this.#options.borrower)}`
  }

  #endedInside(cause: unknown): void {
    this.#broken ??= endedInsideError(this.#borrower, cause)
  }

  #lateCall(): Error {
    const error = lateCallError(this.#borrower)
    this.#options.onLateCall(error)
    return error
  }
}
