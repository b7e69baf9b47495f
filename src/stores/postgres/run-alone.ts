import type { Cell } from './cells.ts'
import type { Answer, Connection } from './connection.ts'
import { isLostConnection, sqlState } from './errors.ts'
import type { Statement } from './statement.ts'

/** Enough for any real crowd: each turn, whoever stood in the way has committed. */
const mostTurns = 20

/**
 * For one statement in a transaction of its own. Where the role's default isolation is stricter than ours, a rival that
 * was faster is an error, after which the statement simply has to be run again.
 */
export async function runAgain(run: () => Promise<Answer>): Promise<Answer> {
  for (let turn = 1; ; turn++) {
    try {
      return await run()
    } catch (error) {
      if (sqlState(error) !== '40001' || turn === mostTurns) throw error
    }
  }
}

export async function runOn<Tx>(
  connection: Connection<Tx>,
  statement: Statement,
  values: readonly Cell[],
): Promise<Answer> {
  try {
    const answer = await runAgain(() => connection.run(statement, values))
    connection.release()
    return answer
  } catch (error) {
    if (connection.lost() !== undefined || isLostConnection(error)) connection.discard()
    else connection.release()
    throw error
  }
}
