import type { Answer, Connection } from '../connection.ts'
import { isBadSession, isLostConnection, sqlState } from '../errors.ts'
import type { Statement } from '../statement.ts'
import type { Cell } from '../values-as-text.ts'
import { beginAnew, inOurEncoding, wasLeftOpen, wasMisread } from './left-open.ts'

/**
 * Runs one statement in its own transaction. If the role's default isolation is stricter than ours, losing a race to another
 * process is an error. A plain retry would only help until the next race, so the statement then asks for our isolation. The
 * same is done if someone has left a transaction open in the session.
 */
async function runOn<Tx>(connection: Connection<Tx>, statement: Statement, values: readonly Cell[]): Promise<Answer> {
  if (connection.isMisread()) return await readingCommitted(connection, statement, values)
  let answer: Answer
  try {
    answer = await connection.run(statement, values)
  } catch (error) {
    if (mustBegin(error)) return await readingCommitted(connection, statement, values)
    if (connection.lost() !== undefined || isLostConnection(error) || isBadSession(error)) connection.discard()
    else connection.release()
    throw error
  }
  // If someone has left a transaction open, nothing has been committed yet.
  if (connection.isInside()) return await readingCommitted(connection, statement, values)
  connection.release()
  return answer
}

/** Retries on another connection if someone left the first one in a state in which none of our statements work. */
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

/** Whether the only cause is what someone has left in the session: a stricter isolation than ours, an open transaction, another encoding. */
export function mustBegin(error: unknown): boolean {
  return sqlState(error) === '40001' || wasLeftOpen(error) || wasMisread(error)
}

export async function readingCommitted<Tx>(
  connection: Connection<Tx>,
  statement: Statement,
  values: readonly Cell[],
): Promise<Answer> {
  try {
    await beginAnew(connection, `; ${inOurEncoding}`)
    const answer = await connection.run(statement, values)
    await connection.script('COMMIT')
    connection.release()
    return answer
  } catch (error) {
    connection.discard()
    throw error
  }
}
