import type { Runner } from '../connection.ts'
import { messageOf, sqlState } from '../errors.ts'

/**
 * What we begin is NOT DEFERRABLE by default. Saying so is refused as soon as a query has run in the transaction: so this
 * fails where somebody has left one open in the session, which would otherwise go on as ours, with all that was done in it.
 */
export const beginText = 'BEGIN ISOLATION LEVEL READ COMMITTED, NOT DEFERRABLE'

const mark = 'somebody has left a transaction open in this session'

/** For a text that is to be a transaction of its own: only there every statement is as old as the transaction. */
export const unlessInside = `SELECT 1 WHERE CASE WHEN now() <> statement_timestamp() THEN concat('${mark}')::int = 0 END`

/** What we began, or wanted to be alone, came into a transaction of somebody else. By now that has failed. */
export function wasLeftOpen(error: unknown): boolean {
  const state = sqlState(error)
  return state === '25001' || state === '25P02' || (state === '22P02' && messageOf(error).includes(mark))
}

/** Begins a transaction where somebody may have left one open: that one is undone. What comes with it is in the same text. */
export async function beginAnew(runner: Pick<Runner, 'script'>, more = ''): Promise<void> {
  try {
    await runner.script(`${beginText}${more}`)
  } catch (error) {
    if (!wasLeftOpen(error)) throw error
    await runner.script(`ROLLBACK; ${beginText}${more}`)
  }
}
