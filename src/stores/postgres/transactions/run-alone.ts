import type { Cell } from '../cells.ts'
import type { Answer, Connection } from '../connection.ts'
import { isBadSession, isLostConnection, sqlState } from '../errors.ts'
import type { Statement } from '../statement.ts'
import { beginAnew, wasLeftOpen } from './left-open.ts'

/**
 * One statement in a transaction of its own. Where the role's default isolation is stricter than ours, a rival that was
 * faster is an error. Trying again would only help until the next rival comes, so then it asks for our isolation. So it
 * does where somebody has left a transaction open in the session.
 */
async function runOn<Tx>(connection: Connection<Tx>, statement: Statement, values: readonly Cell[]): Promise<Answer> {
  let answer: Answer
  try {
    answer = await connection.run(statement, values)
  } catch (error) {
    if (mustBegin(error)) return await readingCommitted(connection, statement, values)
    if (connection.lost() !== undefined || isLostConnection(error) || isBadSession(error)) connection.discard()
    else connection.release()
    throw error
  }
  // In a transaction that somebody has left open nothing is committed by that.
  if (connection.isInside()) return await readingCommitted(connection, statement, values)
  connection.release()
  return answer
}

/** Once more on another connection, where the one before was left by somebody in a state in which nothing of ours works. */
export async function runOnGoodOne<Tx>(
  checkOut: () => Promise<Connection<Tx>>,
  statement: Statement,
  values: readonly Cell[],
): Promise<Answer> {
  try {
    return await runOn(await checkOut(), statement, values)
  } catch (error) {
    if (!isBadSession(error)) throw error
    return await runOn(await checkOut(), statement, values)
  }
}

/** It failed only because the default isolation is stricter than ours, or because somebody has left a transaction open. */
export function mustBegin(error: unknown): boolean {
  return sqlState(error) === '40001' || wasLeftOpen(error)
}

export async function readingCommitted<Tx>(
  connection: Connection<Tx>,
  statement: Statement,
  values: readonly Cell[],
): Promise<Answer> {
  try {
    await beginAnew(connection)
    const answer = await connection.run(statement, values)
    await connection.script('COMMIT')
    connection.release()
    return answer
  } catch (error) {
    connection.discard()
    throw error
  }
}
