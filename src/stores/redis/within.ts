import type { Inbox, JoinedStore, Parts } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { NestedTurns } from '../shared/nested-turns.ts'
import { systemTimers } from '../shared/system-timers.ts'
import { classify } from './errors.ts'
import type { TxFactory } from './redis-tx.ts'
import type { Transaction } from './transaction.ts'

export function redisParts<Tx extends object>(factory: TxFactory<Tx>): Parts<Tx> {
  return {
    async next(tx) {
      const transaction = factory.transactionOf(tx)
      transaction.partStart = transaction.steps.length
    },
    async undo(tx) {
      const transaction = factory.transactionOf(tx)
      if (transaction.partStart === undefined)
        throw new JustonceError('TX_ENDED', { message: 'There is no part to undo.' })
      transaction.undoTo(transaction.partStart)
    },
  }
}

const savepointTurns = new NestedTurns(systemTimers, 10_000)

export interface Joining<Tx extends object> {
  readonly factory: TxFactory<Tx>
  readonly inbox: Inbox<Tx>
  readonly name: string
  readonly guarantee: JoinedStore<Tx>['guarantee']
}

/** The caller's transaction is always one of this store, because Redis has no other kind. */
export function joinedStore<Tx extends object>(tx: Tx, joining: Joining<Tx>): JoinedStore<Tx> {
  const { factory, inbox, name, guarantee } = joining
  const transaction = factory.transactionOf(tx)
  return {
    name,
    guarantee,
    tx,
    savepoint: (work) => savepointTurns.run(transaction, () => inSavepoint(transaction, work)),
    lend: (lent, options) => factory.lend(lent, options),
    inbox,
    classify,
  }
}

async function inSavepoint<T>(transaction: Transaction, work: () => Promise<T>): Promise<T> {
  const { length } = transaction.steps
  try {
    return await work()
  } catch (error) {
    if (!transaction.ended) transaction.undoTo(length)
    throw error
  }
}
