import { JustonceError } from './justonce-error.ts'
import { whatWasGiven, wrapperName } from './what-was-given.ts'

/** For a `tx` that is no client of the store's: of another library, a pool, nothing at all. */
export function wrongTx(tx: unknown, wanted: string): JustonceError {
  const hint = wrapperName(tx) === undefined ? '' : ' It wraps the client: give the one underneath.'
  return new JustonceError('OPTION_INVALID', { message: `tx is ${whatWasGiven(tx)}, but must be ${wanted}.${hint}` })
}

/** For a client that is in no transaction, where every statement would stand alone. */
export function txNotOpen(how: string, cause?: unknown): JustonceError {
  return new JustonceError('TX_NOT_OPEN', {
    message: `tx is not inside a transaction. ${how}`,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** For what is no longer as it was when it was taken. */
export function takenByAnother(queue: string): JustonceError {
  return new JustonceError('CLAIM_LOST', { message: `What was taken from the queue ${queue} is gone or with another.` })
}
