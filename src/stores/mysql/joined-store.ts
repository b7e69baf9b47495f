import type { Inbox, JoinedStore } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { NestedTurns } from '../sql/nested-turns.ts'
import { systemTimers } from '../sql/system-timers.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { classify } from './errors.ts'
import { lentConnection } from './lent-connection.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { type Runner, serverFlags } from './runner.ts'

export interface JoinedParts<Native extends MysqlConnectionShape> {
  readonly name: string
  readonly transactions: OpenTransactions<Native>
  readonly inbox: Inbox<Native>
}

/** How long one savepoint may keep the next one of the same transaction waiting. */
const patienceMs = 60_000

const turns = new NestedTurns(systemTimers, patienceMs)

let savepoints = 0

export function joinedStore<Native extends MysqlConnectionShape>(
  { name, transactions, inbox }: JoinedParts<Native>,
  tx: Native,
): JoinedStore<Native> {
  const runner = transactions.runner(tx)
  return {
    name,
    guarantee: 'atomic',
    tx,
    inbox,
    classify,
    savepoint: (work) => turns.run(tx, () => inSavepoint(runner, work)),
    lend: (lent, options) =>
      transactions.find(lent)?.lend(options) ?? lentConnection(lent, { ...options, isOver: () => false }),
  }
}

async function inSavepoint<T>(runner: Runner, work: () => Promise<T>): Promise<T> {
  // A second savepoint of one name would replace the first, also at another depth.
  const name = `justonce_joined_${++savepoints}`
  const { status } = await runner.run(`SAVEPOINT ${name}`)
  if ((status & serverFlags.autocommit) !== 0 && (status & serverFlags.inTransaction) === 0) throw notInTransaction()
  try {
    const value = await work()
    await runner.run(`RELEASE SAVEPOINT ${name}`)
    return value
  } catch (error) {
    // What the work failed with matters more. After a deadlock there is nothing left to undo.
    await runner.run(`ROLLBACK TO SAVEPOINT ${name}`).catch(() => {})
    throw error
  }
}

/** Here MySQL would take every statement for a transaction of its own. */
function notInTransaction(): JustonceError {
  return new JustonceError('TX_CLOSED', {
    message: 'store.within() was given a connection that is in no transaction; call beginTransaction() first.',
  })
}
