import { JustonceError } from './justonce-error.ts'
import { whatWasGiven, wrapperName } from './what-was-given.ts'

/** For a `tx` that is not a client of the store: of another library, a pool, or nothing at all. */
export function wrongTx(tx: unknown, wanted: string): JustonceError {
  const hint = wrapperName(tx) === undefined ? '' : ' It wraps the client: give the one underneath.'
  return new JustonceError('OPTION_INVALID', { message: `tx is ${whatWasGiven(tx)}, but must be ${wanted}.${hint}` })
}

/** For a client that is not in a transaction, where every statement would stand alone. */
export function txNotOpen(how: string, cause?: unknown): JustonceError {
  return new JustonceError('TX_NOT_OPEN', {
    message: `tx is not inside a transaction. ${how}`,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** For messages in hand that are no longer in their queue. */
export function goneFrom(queue: string, cause?: unknown): JustonceError {
  return new JustonceError('DELIVERY_GONE', {
    message: `What was taken from the queue ${queue} is no longer in it.`,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** For queued messages that have changed since they were taken. */
export function takenByAnother(queue: string): JustonceError {
  return new JustonceError('CLAIM_LOST', {
    message: `What was taken from the queue ${queue} is gone or held by another process.`,
  })
}
