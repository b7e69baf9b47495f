import type { Cell } from './cells.ts'
import type { Answer, Connection } from './connection.ts'
import { isLostConnection, sqlState } from './errors.ts'
import type { Statement } from './statement.ts'

/**
 * One statement in a transaction of its own. Where the role's default isolation is stricter than ours, a rival that was
 * faster is an error. Trying again would only help until the next rival comes, so then it asks for our isolation.
 */
export async function runOn<Tx>(
  connection: Connection<Tx>,
  statement: Statement,
  values: readonly Cell[],
): Promise<Answer> {
  try {
    const answer = await connection.run(statement, values)
    connection.release()
    return answer
  } catch (error) {
    if (wasTooStrict(error)) return await readingCommitted(connection, statement, values)
    if (connection.lost() !== undefined || isLostConnection(error)) connection.discard()
    else connection.release()
    throw error
  }
}

/** It failed only because the default isolation is stricter than the one that the statement was made for. */
export function wasTooStrict(error: unknown): boolean {
  return sqlState(error) === '40001'
}

export async function readingCommitted<Tx>(
  connection: Connection<Tx>,
  statement: Statement,
  values: readonly Cell[],
): Promise<Answer> {
  try {
    await connection.script('BEGIN ISOLATION LEVEL READ COMMITTED')
    const answer = await connection.run(statement, values)
    await connection.script('COMMIT')
    connection.release()
    return answer
  } catch (error) {
    connection.discard()
    throw error
  }
}
