import type { Runner } from '../connection.ts'
import { messageOf, sqlState } from '../errors.ts'

/**
 * Our transactions are NOT DEFERRABLE by default. Postgres refuses to set this once a query has run in the transaction. So
 * this fails if someone has left a transaction open in the session, which would otherwise continue as ours, with everything
 * done in it.
 */
export const beginText = 'BEGIN ISOLATION LEVEL READ COMMITTED, NOT DEFERRABLE'

/** Both clients write and read nothing else. In a session that says otherwise the server would take a key for another one. */
export const ourEncoding = 'UTF8'
export const inOurEncoding = `SET LOCAL client_encoding TO '${ourEncoding}'`

const mark = 'somebody has left a transaction open in this session'

const otherEncoding = 'somebody has changed the encoding of this session'

/**
 * For a text that must be its own transaction, and in our encoding. Only in a transaction of its own is every statement as old as the
 * transaction.
 */
export const unlessInside = `SELECT 1 WHERE CASE WHEN now() <> statement_timestamp() THEN concat('${mark}')::int = 0
  WHEN current_setting('client_encoding') <> '${ourEncoding}' THEN concat('${otherEncoding}')::int = 0 END`

/** Whether our statement was undone because it ran in a session of another encoding. */
export function wasMisread(error: unknown): boolean {
  return sqlState(error) === '22P02' && messageOf(error).includes(otherEncoding)
}

/** Whether our statement ran inside a transaction that someone else had left open. That transaction has failed by now. */
export function wasLeftOpen(error: unknown): boolean {
  const state = sqlState(error)
  return state === '25001' || state === '25P02' || (state === '22P02' && messageOf(error).includes(mark))
}

/** Begins a transaction. One that was left open is rolled back first. `more` is sent in the same text. */
export async function beginAnew(runner: Pick<Runner, 'script'>, more = ''): Promise<void> {
  try {
    await runner.script(`${beginText}${more}`)
  } catch (error) {
    if (!wasLeftOpen(error)) throw error
    await runner.script(`ROLLBACK; ${beginText}${more}`)
  }
}
