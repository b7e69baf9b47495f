import { JustonceError } from '../../../errors/index.ts'

/** Postgres has not done what it was told, and has not called that an error. What was done beside it must not stay either. */
export function swallowed(what: string): JustonceError {
  return new JustonceError('STORE_DENIED', {
    message: `Postgres reported no error, but ${what}: row-level security, a rule or a trigger keeps the role of the store from it.`,
  })
}
