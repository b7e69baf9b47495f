import type { Inbox, JoinedStore } from '../../contracts/index.ts'
import { NestedTurns } from '../shared/nested-turns.ts'
import { systemTimers } from '../shared/system-timers.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { classify, isMissingSavepoint, messageOf } from './errors.ts'
import type { OpenTransaction, OpenTransactions } from './open-transaction.ts'
import { rollBackTo } from './roll-back-to.ts'

export interface JoinedParts<Native extends MysqlConnectionShape> {
  readonly name: string
  readonly transactions: OpenTransactions<Native>
  readonly inbox: Inbox<Native>
}

/** How long one savepoint may make the next one of the same transaction wait. */
const patienceMs = 60_000

const turns = new NestedTurns(systemTimers, patienceMs)

let savepoints = 0

export function joinedStore<Native extends MysqlConnectionShape>(
  { name, transactions, inbox }: JoinedParts<Native>,
  tx: Native,
): JoinedStore<Native> {
  return {
    name,
    guarantee: 'atomic',
    tx,
    inbox,
    classify,
    savepoint(work) {
      // A second savepoint with the same name would replace the first, even at another depth.
      const savepoint = `justonce_joined_${++savepoints}`
      const own = transactions.find(tx)
      return turns.run(tx, () =>
        own === undefined ? transactions.joined(tx).inSavepoint(savepoint, work) : inSavepoint(own, savepoint, work),
      )
    },
    lend: (lent, options) => (transactions.find(lent) ?? transactions.joined(lent)).lend(options),
  }
}

/** For our own transaction, whose end takes care of everything else. */
async function inSavepoint<T>(
  transaction: OpenTransaction<MysqlConnectionShape>,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  await transaction.run(`SAVEPOINT ${name}`)
  try {
    const value = await work()
    await transaction.run(`RELEASE SAVEPOINT ${name}`)
    return value
  } catch (error) {
    // The error of the work matters more. After a deadlock there is nothing left to roll back; what is left in any other case
    // must not be committed.
    await rollBackTo(transaction, name).catch((failure: unknown) => {
      if (!isMissingSavepoint(failure))
        transaction.connection.discard(new Error(messageOf(failure), { cause: failure }))
    })
    throw error
  }
}
