import type { Parts } from '../../../contracts/index.ts'
import { sqlState } from '../errors.ts'
import { statement } from '../statement.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { abortedError } from './transaction.ts'

const savepoint = statement('SAVEPOINT justonce_part')
const release = statement('RELEASE SAVEPOINT justonce_part')
const undo = statement('ROLLBACK TO SAVEPOINT justonce_part')

export function postgresParts<Tx>(transactions: OpenTransactions<Tx>): Parts<Tx> {
  return {
    async next(tx) {
      const transaction = transactions.get(tx)
      try {
        await transaction.connection.runAll(transaction.hasPart ? [release, savepoint] : [savepoint])
        transaction.hasPart = true
      } catch (error) {
        throw sqlState(error) === '25P02' ? abortedError(error) : error
      }
    },
    async undo(tx) {
      await transactions.get(tx).connection.runAll([undo])
    },
  }
}
