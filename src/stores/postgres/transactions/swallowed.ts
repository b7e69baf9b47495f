import { JustonceError } from '../../../errors/index.ts'

/** Postgres did not do what it was asked to do and reported no error. Everything done along with it must be rolled back too. */
export function swallowed(what: string): JustonceError {
  return new JustonceError('STORE_DENIED', {
    message: `Postgres reported no error, but ${what}: row-level security, a rule or a trigger keeps the role of the store from it.`,
  })
}
