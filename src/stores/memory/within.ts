import type { Inbox, JoinedStore, Parts } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { classify } from './classify.ts'
import { type MemoryTransaction, type MemoryTx, transactionOf } from './memory-tx.ts'
import { lend } from './transactions.ts'

export function memoryParts(): Parts<MemoryTx> {
  return {
    async next(tx) {
      const transaction = transactionOf(tx)
      const { database } = transaction
      if (transaction.partDepth === undefined) transaction.partDepth = database.depth
      else database.keepTo(transaction.partDepth)
      database.push()
    },
    async undo(tx) {
      const { database, partDepth } = transactionOf(tx)
      if (partDepth === undefined) throw new JustonceError('TX_ENDED', { message: 'There is no part to undo.' })
      database.undoTo(partDepth)
      database.push()
    },
  }
}

export function joinedStore(tx: MemoryTx, inbox: Inbox<MemoryTx>): JoinedStore<MemoryTx> {
  const transaction = transactionOf(tx)
  const { savepointTurns } = transaction.database
  return {
    name: 'memory',
    guarantee: 'atomic',
    tx,
    savepoint: (work) => savepointTurns.run(transaction, () => inSavepoint(transaction, work)),
    lend,
    inbox,
    classify,
  }
}

async function inSavepoint<T>(transaction: MemoryTransaction, work: () => Promise<T>): Promise<T> {
  const { database } = transaction
  const { depth } = database
  database.push()
  try {
    const value = await work()
    if (!transaction.ended) database.keepTo(depth)
    return value
  } catch (error) {
    if (!transaction.ended) database.undoTo(depth)
    throw error
  }
}
