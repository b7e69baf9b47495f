import { checkNumber } from './check-options.ts'

const brand = Symbol.for('justonce.retry-later')

/**
 * Thrown by a handler that knows when to try again, for example because a service has said so. The next attempt is made
 * then, whatever the backoff says. It counts as an attempt.
 */
export class RetryLater extends Error {
  readonly delayMs: number

  constructor(delayMs: number, message = `to be tried again in ${delayMs} ms`, options?: ErrorOptions) {
    super(message, options)
    checkNumber(delayMs, 'The delay of RetryLater', 0)
    this.name = 'RetryLater'
    this.delayMs = delayMs
    Object.defineProperty(this, brand, { value: true })
  }
}

export function isRetryLater(error: unknown): error is RetryLater {
  return typeof error === 'object' && error !== null && brand in error
}
