import type { Inbox, JoinedStore, Loan, LoanOptions } from '../../contracts/index.ts'
import { txNotOpen, wrapperName, wrongTx } from '../../errors/index.ts'
import type { NestedTurns } from '../shared/nested-turns.ts'
import { guardOf } from './lent-database.ts'
import { checkNothingAttached } from './session.ts'
import { inTransaction, type SqliteDatabase } from './sqlite-database.ts'
import { classify } from './sqlite-errors.ts'
import { statementsOf } from './statements.ts'
import { statementsIn } from './transactions.ts'

export interface JoinOptions<Database> {
  readonly inbox: Inbox<Database>
  readonly savepointTurns: NestedTurns
  lend(tx: Database, options: LoanOptions): Loan<Database>
}

export function joinedStore<Database extends SqliteDatabase>(
  tx: Database,
  { inbox, savepointTurns, lend }: JoinOptions<Database>,
): JoinedStore<Database> {
  const database = guardOf(tx)?.database ?? tx
  if (typeof database?.exec !== 'function' || wrapperName(tx) !== undefined)
    throw wrongTx(tx, 'the database of node:sqlite or better-sqlite3 on which the transaction was begun')
  if (!inTransaction(database)) throw txNotOpen('Run BEGIN on this database first.')
  checkNothingAttached(database, 'FILES_ATTACHED')
  return {
    name: 'sqlite',
    guarantee: 'atomic',
    tx,
    savepoint: (work) => savepointTurns.run(database, () => inSavepoint(tx, work)),
    lend,
    inbox,
    classify,
  }
}

let savepoints = 0

async function inSavepoint<T>(tx: SqliteDatabase, work: () => Promise<T>): Promise<T> {
  const name = `justonce_joined_${++savepoints}`
  statementsIn(tx).exec(`SAVEPOINT ${name}`)
  try {
    const value = await work()
    statementsIn(tx).exec(`RELEASE ${name}`)
    return value
  } catch (error) {
    undo(guardOf(tx)?.database ?? tx, name)
    throw error
  }
}

function undo(database: SqliteDatabase, name: string): void {
  try {
    statementsOf(database).exec(`ROLLBACK TO ${name}; RELEASE ${name}`)
  } catch {
    // The savepoint is gone, perhaps with its transaction. The error of the work says more.
  }
}
