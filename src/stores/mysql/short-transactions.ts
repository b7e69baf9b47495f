import type { CheckOutOptions } from '../sql/checked-out.ts'
import { defaultLimits } from '../sql/default-limits.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { MysqlConnection } from './connection.ts'
import type { Connections } from './connections.ts'
import { endings } from './endings.ts'
import { deadlock, errorNumber, isBadSession } from './errors.ts'
import type { Answer, Runner } from './runner.ts'

/** Enough for any real contention: on each turn, the transaction that stood in the way has committed. */
const mostTurns = 20

/** How many sessions in a row may have been left in a state in which none of our statements work. */
const mostSessions = 3

/** Transactions of the store itself, on a separate connection and without a handler. */
export class ShortTransactions<Native extends MysqlConnectionShape> {
  readonly #connections: Connections<Native>

  constructor(connections: Connections<Native>) {
    this.#connections = connections
  }

  /** Runs one SELECT. */
  read(sql: string): Promise<Answer['rows']> {
    return onGoodSession(() => this.#read(sql))
  }

  /** Commits. After a deadlock, which is nobody's fault, the work is repeated. */
  run<T>(work: (runner: Runner) => Promise<T>, options?: CheckOutOptions): Promise<T> {
    return onGoodSession(() => this.#run(work, options))
  }

  /** Sets up the session here too, because otherwise the clock and the isolation that others have left would apply. */
  async #read(sql: string): Promise<Answer['rows']> {
    const connection = await this.#connections.checkOut()
    try {
      await connection.takeSession(defaultLimits)
      const { rows } = await connection.run(sql)
      void undo(connection)
      return rows
    } catch (error) {
      await undo(connection)
      throw error
    }
  }

  async #run<T>(work: (runner: Runner) => Promise<T>, options?: CheckOutOptions): Promise<T> {
    const connection = await this.#connections.checkOut(options)
    try {
      await connection.takeSession(defaultLimits)
      const value = await despiteDeadlocks(connection, work)
      void connection.giveBack()
      return value
    } catch (error) {
      await undo(connection)
      throw error
    }
  }
}

/** A session in which our statements are refused is discarded; the next one may work. */
async function onGoodSession<T>(work: () => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn++) {
    try {
      return await work()
    } catch (error) {
      if (!isBadSession(error) || turn === mostSessions) throw error
    }
  }
}

async function despiteDeadlocks<T>(connection: Runner, work: (runner: Runner) => Promise<T>): Promise<T> {
  for (let turn = 1; ; turn++) {
    try {
      const value = await work(connection)
      await connection.run(endings.commit)
      return value
    } catch (error) {
      if (errorNumber(error) !== deadlock || turn === mostTurns) throw error
      await connection.run(endings.rollback)
    }
  }
}

async function undo(connection: MysqlConnection<MysqlConnectionShape>): Promise<void> {
  try {
    await connection.run(endings.rollback)
    void connection.giveBack()
  } catch {
    connection.discard()
  }
}
