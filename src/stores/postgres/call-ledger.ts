import type { LoanOptions, StoreTrouble } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { findTransactionControl } from '../sql/transaction-control.ts'
import { classify, isBrokenSeal } from './errors.ts'

export interface LedgerOptions extends LoanOptions {
  /** The transaction has ended, with or without an end of the loan. */
  isOver(): boolean
  /** The connection is gone. */
  lost?(): Error | undefined
  /** False: the client has seen the transaction end. */
  inTransaction?(): boolean | undefined
}

/** One call under way. */
export interface Call {
  succeeded(): void
  failed(error: unknown): void
}

interface Waiter {
  resolve(): void
  reject(error: unknown): void
}

/** Keeps account of the calls of one borrower, and says no when it must. The same for every client library. */
export class CallLedger {
  readonly #options: LedgerOptions
  readonly #waiters = new Set<Waiter>()
  #open = 0
  #ended = false
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
    // While something is under way the client's last word on the transaction is an old one.
    if (this.#open === 0 && this.#options.inTransaction?.() === false) this.#broken ??= this.#endedInside(undefined)
    if (this.#broken !== undefined) return this.#broken
    const keyword = sql === undefined ? undefined : findTransactionControl(sql)
    return keyword === undefined ? undefined : this.controlled(keyword)
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
    const settle = (): boolean => {
      if (!isOpen) return false
      isOpen = false
      this.#open--
      return true
    }
    return {
      succeeded: () => {
        if (settle() && this.#open === 0) this.#tell((waiter) => waiter.resolve())
      },
      failed: (error) => {
        if (!settle()) return
        this.#note(error)
        if (isBrokenSeal(error)) this.#broken ??= this.#endedInside(error)
        this.#tell((waiter) => waiter.reject(error))
      },
    }
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
