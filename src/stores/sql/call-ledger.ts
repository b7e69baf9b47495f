import type { Loan, LoanOptions, LoanReport, StoreTrouble } from '../../contracts/index.ts'
import { controlError, endedInsideError, lateCallError } from './loan-errors.ts'
import { rejected } from './rejected.ts'
import { type SavepointRules, Savepoints } from './savepoints.ts'

export interface LedgerOptions extends LoanOptions {
  /** The transaction has ended, with or without an end of the loan. */
  isOver(): boolean
  /** The connection is gone. */
  lost?(): Error | undefined
  onCall?(): void
  /** The statements that put right what a borrower has changed of its session; absent where that is its own affair. */
  restore?(names: readonly string[]): readonly string[]
  /** These are about to be changed by what is sent next. */
  beforeChange?(names: readonly string[]): void
  /** Something is about to be made that belongs to the session, and outlives the transaction. */
  onLeft?(): void
  /** Something may be changed by every call, whatever its text says. */
  readonly changesUnseen?: boolean | undefined
  /** Runs statements of ours on the borrower's transaction, around the ledger. */
  tidy(statements: readonly string[]): Promise<unknown>
}

/** What differs from one database and one client library to the next. */
export interface LedgerRules {
  classify(error: unknown): StoreTrouble
  findTransactionControl(sql: string): string | undefined
  /** The transaction is not there any more after a call that failed with this. */
  endedBy(error: unknown): boolean
  /** The same of a call that succeeded: a procedure may have committed. */
  endedWith?(result: unknown): boolean
  /** The client has seen the transaction end. */
  hasEnded?(): boolean
  readonly savepoints: SavepointRules
  /** Whether a text makes something that belongs to the session, and may be there when the transaction has ended. */
  leavesSomething?(sql: string): boolean
  /** What a text changes of the session, where that is not for borrowers to change or has to be put right after them. */
  sessionChange?(sql: string): { readonly refused?: string | undefined; readonly names: readonly string[] } | undefined
}

/** One call under way. */
export interface Call {
  succeeded(result?: unknown): void
  failed(error: unknown): void
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/** A loan that its store can ask while it lasts. */
export interface LedgerLoan<Tx> extends Loan<Tx> {
  report(): Omit<LoanReport, 'tidied'>
}

/** Keeps account of the calls of one borrower, and says no when it must. The same for every client library. */
export class CallLedger {
  readonly #options: LedgerOptions
  readonly #rules: LedgerRules
  readonly #waiters = new Set<Waiter>()
  #open = 0
  #ended = false
  #broken: Error | undefined
  #trouble: StoreTrouble = 'none'
  readonly #savepoints: Savepoints
  #changed: Set<string> | undefined

  constructor(options: LedgerOptions, rules: LedgerRules) {
    this.#options = options
    this.#rules = rules
    this.#savepoints = new Savepoints(rules.savepoints)
  }

  /** Why a call with this text may not be made now, or undefined: it may, and counts as made. */
  refusal(sql: string | undefined): Error | undefined {
    const refusal = this.preparing(sql) ?? this.#foreignSavepoint(sql) ?? this.#refusedChange(sql)
    if (refusal === undefined && sql !== undefined && this.#rules.leavesSomething?.(sql)) this.#options.onLeft?.()
    return refusal
  }

  #foreignSavepoint(sql: string | undefined): Error | undefined {
    const foreign = sql === undefined ? undefined : this.#savepoints.foreign(sql)
    return foreign === undefined ? undefined : this.controlled(foreign)
  }

  /** Refused, but without harm: the borrower may go on without it. */
  #refusedChange(sql: string | undefined): Error | undefined {
    if (sql === undefined || this.#options.restore === undefined) return undefined
    const change = this.#rules.sessionChange?.(sql)
    if (change === undefined) return undefined
    if (change.refused !== undefined) return controlError(this.#borrower, change.refused)
    this.#options.beforeChange?.(change.names)
    this.#changed ??= new Set()
    for (const name of change.names) this.#changed.add(name)
    return undefined
  }

  /** The same for a statement that is only made ready. */
  preparing(sql: string | undefined): Error | undefined {
    if (this.#ended || this.#options.isOver()) return this.#lateCall()
    const lost = this.#options.lost?.()
    if (lost !== undefined) return this.#note(lost)
    // While something is under way the client's last word on the transaction is an old one.
    if (this.#open === 0 && this.#rules.hasEnded?.()) this.#endedInside(undefined)
    if (this.#broken !== undefined) return this.#broken
    const control = sql === undefined ? undefined : this.#rules.findTransactionControl(sql)
    return control === undefined ? undefined : this.controlled(control)
  }

  /** After the attempt nothing of the transaction may be committed, even if the error is swallowed. */
  controlled(what: string): Error {
    if (this.#ended || this.#options.isOver()) return this.#lateCall()
    this.#broken ??= controlError(this.#borrower, what)
    return this.#broken
  }

  begin(): Call {
    let isOpen = true
    this.#open++
    this.#options.onCall?.()
    if (this.#options.changesUnseen === true) this.#changed ??= new Set()
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
        if (this.#rules.endedBy(error)) this.#endedInside(error)
        this.#tell((waiter) => waiter.reject(error))
      },
    }
  }

  /** A call that answers with a promise, from its refusal or its beginning to its end. */
  watched<T>(sql: string | undefined, run: () => Promise<T>, refusal = this.refusal(sql)): Promise<T> {
    if (refusal !== undefined) return rejected(refusal)
    const result = run()
    const call = this.begin()
    // This also keeps a call that nobody awaits from being an unhandled rejection: the loan answers for it.
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
    const changed = this.#changed === undefined ? [] : (this.#options.restore?.([...this.#changed]) ?? [])
    const left = [...this.#savepoints.left, ...changed]
    if (!isFirst || left.length === 0 || this.#open > 0 || this.#broken !== undefined) return undefined
    return this.#options.isOver() || this.#options.lost?.() !== undefined ? undefined : this.#tidy(left)
  }

  async #tidy(left: readonly string[]): Promise<void> {
    try {
      await this.#options.tidy(left)
    } catch (error) {
      this.#note(error)
      if (this.#rules.endedBy(error)) this.#endedInside(error)
      throw this.#broken ?? error
    }
  }

  #settled(): Promise<void> | undefined {
    if (this.#open === 0) return undefined
    return new Promise((resolve, reject) => this.#waiters.add({ resolve, reject }))
  }

  #tell(news: (waiter: Waiter) => void): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
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
