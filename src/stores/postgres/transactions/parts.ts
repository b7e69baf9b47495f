import type { Parts } from '../../../contracts/index.ts'
import { sqlState } from '../errors.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { beginning, ending, undoing } from './part-savepoints.ts'
import { abortedError } from './transaction.ts'

export function postgresParts<Tx>(transactions: OpenTransactions<Tx>): Parts<Tx> {
  return {
    travels: true,
    async next(tx) {
      const transaction = transactions.get(tx)
      const open = transaction.part
      transaction.part = open + 1
      try {
        await transaction.connection.runAhead([...ending(open), beginning(open + 1)])
      } catch (error) {
        // The part before it is still open, and can be undone.
        transaction.part = open
        throw sqlState(error) === '25P02' ? abortedError(error) : error
      }
    },
    async undo(tx) {
      const transaction = transactions.get(tx)
      const open = transaction.part
      transaction.part = open + 1
      await transaction.connection.runAhead([undoing(open), ...ending(open), beginning(open + 1)])
    },
  }
}
