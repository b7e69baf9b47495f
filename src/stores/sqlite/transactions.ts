import type { TransactionOptions } from '../../contracts/index.ts'
import type { FairMutex } from '../shared/fair-mutex.ts'
import { unlessAborted } from '../shared/unless-aborted.ts'
import type { Patience } from './busy-retry.ts'
import type { Connection } from './connection.ts'
import { Guard } from './guard.ts'
import { guardOf, lentDatabase } from './lent-database.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { type Statements, statementsOf } from './statements.ts'

/** Runs everything that writes, one transaction after another. */
export class Transactions<Database extends SqliteDatabase> {
  readonly #connection: Connection<Database>
  readonly #turns: FairMutex
  readonly #busyTimeoutMs: number

  constructor(connection: Connection<Database>, turns: FairMutex, busyTimeoutMs: number) {
    this.#connection = connection
    this.#turns = turns
    this.#busyTimeoutMs = busyTimeoutMs
  }

  /** The work gets a guarded connection, so that anything it leaves running cannot reach the next transaction. */
  async run<T>(work: (tx: Database) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    return this.#turn(options, async (database, patience) => {
      const guard = new Guard({ database, borrower: 'the transaction' })
      try {
        const value = await unlessAborted(async () => work(lentDatabase(database, guard)), options.signal)
        guard.end()
        const broken = guard.broken()
        if (broken !== undefined) throw broken
        await this.#connection.commit(database, { ...patience, patienceMs: this.#busyTimeoutMs })
        return value
      } finally {
        guard.end()
      }
    })
  }

  /** A transaction of the store itself, with no pause between its statements. */
  async short<T>(work: (statements: Statements) => T): Promise<T> {
    return this.#turn({}, async (database, patience) => {
      const value = work(statementsOf(database))
      await this.#connection.commit(database, patience)
      return value
    })
  }

  async #turn<T>(
    { giveUpAfterMs, signal }: TransactionOptions,
    work: (database: Database, patience: Patience) => Promise<T>,
  ): Promise<T> {
    const asked = performance.now()
    const endTurn = await this.#turns.acquire({ giveUpAfterMs, signal })
    try {
      const leftMs = giveUpAfterMs === undefined ? this.#busyTimeoutMs : giveUpAfterMs - (performance.now() - asked)
      const patience = { patienceMs: leftMs, signal }
      const database = await this.#connection.begin(patience)
      try {
        return await work(database, patience)
      } finally {
        // After a commit there is nothing to roll back.
        this.#connection.undo(database)
      }
    } finally {
      endTurn()
    }
  }
}

/** The store's own statements on the connection of an open transaction, ours or the caller's. Throws if it is over. */
export function statementsIn(tx: SqliteDatabase): Statements {
  const guard = guardOf(tx)
  guard?.check()
  return statementsOf(guard?.database ?? tx)
}
