import { JustonceError } from '../../errors/index.ts'

/**
 * A trigger with RAISE(IGNORE) keeps SQLite from doing what it was asked to do, and that is no error. Everything done along with it must
 * be rolled back, because a record would stand without its effect, or an effect without its record.
 */
export function swallowed(what: string, table: string): JustonceError {
  return new JustonceError('STORE_DENIED', {
    message: `SQLite reported no error, but ${what}: a trigger on ${table} keeps the store from it.`,
  })
}
