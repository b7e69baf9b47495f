import type { LoanOptions, StoreTrouble } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { classify, endsTransaction } from './errors.ts'
import { serverFlags } from './runner.ts'
import { findTransactionControl } from './transaction-control.ts'

export interface LedgerOptions extends LoanOptions {
  /** The transaction has ended, with or without an end of the loan. */
  isOver(): boolean
  /** The connection is gone. */
  lost?(): Error | undefined
  /** A lock timeout undoes the whole transaction here. */
  readonly timeoutsEndTransactions?: boolean
  onCall?(): void
  /** The promise's own end, or that of the connection it is on. */
  untilGone?<T>(promise: Promise<T>): Promise<T>
}

/** One call under way. */
export interface Call {
  succeeded(result: unknown): void
  failed(error: unknown): void
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/** Keeps account of the calls of one borrower, and says no when it must. */
export class CallLedger {
  readonly #options: LedgerOptions
  readonly #waiters = new Set<Waiter>()
  #open = 0
  #ended = false
  #wasInTransaction = false
  #broken: Error | undefined
  #trouble: StoreTrouble = 'none'

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  /** Why a call with this text may not be made now, or undefined: it may. */
  refusal(sql: string | undefined): Error | undefined {
    if (this.#ended || this.#options.isOver()) return this.#lateCall()
    const lost = this.#options.lost?.()
    if (lost !== undefined) return this.#note(lost)
    if (this.#broken !== undefined) return this.#broken
    const control = sql === undefined ? undefined : findTransactionControl(sql)
    return control === undefined ? undefined : this.controlled(control)
  }

  /** After the attempt nothing of the transaction may be committed, even if the error is swallowed. */
  controlled(what: string): Error {
    if (this.#ended || this.#options.isOver()) return this.#lateCall()
    this.#broken ??= new JustonceError('TX_CONTROL', {
      message: `The handler ${JSON.stringify(this.#options.borrower)} called ${what} on the transaction it was lent.`,
    })
    return this.#broken
  }

  begin(): Call {
    let isOpen = true
    this.#open++
    this.#options.onCall?.()
    const settle = (): boolean => {
      if (!isOpen) return false
      isOpen = false
      this.#open--
      return true
    }
    return {
      succeeded: (result) => {
        if (!settle()) return
        this.#look(result)
        if (this.#open === 0) this.#tell((waiter) => waiter.resolve())
      },
      failed: (error) => {
        if (!settle()) return
        this.#note(error)
        if (endsTransaction(error, this.#options.timeoutsEndTransactions ?? false))
          this.#broken ??= this.#endedInside(error)
        this.#tell((waiter) => waiter.reject(error))
      },
    }
  }

  untilGone<T>(promise: Promise<T>): Promise<T> {
    return this.#options.untilGone?.(promise) ?? promise
  }

  openCalls(): number {
    return this.#open
  }

  settled(): Promise<void> {
    if (this.#open === 0) return Promise.resolve()
    return new Promise((resolve, reject) => this.#waiters.add({ resolve, reject }))
  }

  end(): void {
    this.#ended = true
  }

  broken(): Error | undefined {
    return this.#broken
  }

  trouble(): StoreTrouble {
    return this.#trouble
  }

  /** A procedure may have committed: then the server no longer says that a transaction is open. */
  #look(result: unknown): void {
    const status = statusOf(result)
    if (status === undefined) return
    const isInTransaction = (status & serverFlags.inTransaction) !== 0
    if (this.#wasInTransaction && !isInTransaction) this.#broken ??= this.#endedInside(undefined)
    this.#wasInTransaction ||= isInTransaction
  }

  #tell(news: (waiter: Waiter) => void): void {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const waiter of waiters) news(waiter)
  }

  #note<E>(error: E): E {
    const trouble = classify(error)
    if (trouble === 'unavailable' || this.#trouble === 'none') this.#trouble = trouble
    return error
  }

  #endedInside(cause: unknown): JustonceError {
    return new JustonceError('TX_ENDED', {
      message: `The transaction ended while the handler ${JSON.stringify(this.#options.borrower)} used it.`,
      cause,
    })
  }

  #lateCall(): JustonceError {
    const error = new JustonceError('TX_CLOSED', {
      message: `The handler ${JSON.stringify(this.#options.borrower)} used tx after it had settled.`,
    })
    this.#options.onLateCall(error)
    return error
  }
}

/** Of the header of a result, or of the last one where there are several. */
function statusOf(result: unknown): number | undefined {
  const [first] = Array.isArray(result) ? result : [result]
  const last: unknown = Array.isArray(first) ? first.at(-1) : first
  const status = (last as { serverStatus?: unknown } | null | undefined)?.serverStatus
  return typeof status === 'number' ? status : undefined
}
