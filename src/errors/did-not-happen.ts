import { checkNumber, checkOptions } from './check-options.ts'

const brand = Symbol.for('justonce.did-not-happen')

/** What `DidNotHappen` takes besides its message. */
export interface DidNotHappenOptions extends ErrorOptions {
  /** When to call again, for example because the service has said so. Default: as the backoff of the effect says. */
  readonly delayMs?: number
  /** Calling again cannot help: the intent is given up. Default: false. */
  readonly permanent?: boolean
}

/**
 * Thrown by an effect that knows that its call has changed nothing outside: the connection was refused, or the service answered
 * that it did not do it. Only then may a call without an idempotency key be repeated.
 */
export class DidNotHappen extends Error {
  readonly delayMs: number | undefined
  readonly permanent: boolean

  constructor(message: string, options: DidNotHappenOptions = {}) {
    checkOptions(options, ['cause', 'delayMs', 'permanent'], 'DidNotHappen')
    checkNumber(options.delayMs ?? 0, 'delayMs of DidNotHappen', 0)
    super(message, options)
    this.name = 'DidNotHappen'
    this.delayMs = options.delayMs
    this.permanent = options.permanent ?? false
    Object.defineProperty(this, brand, { value: true })
  }
}

export function isDidNotHappen(error: unknown): error is DidNotHappen {
  return typeof error === 'object' && error !== null && brand in error
}
