import type { Parts } from '../../contracts/index.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import { isMissingSavepoint } from './errors.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { endedError } from './transaction.ts'

const part = 'justonce_part'

export function mysqlParts<Native extends MysqlConnectionShape>(transactions: OpenTransactions<Native>): Parts<Native> {
  return {
    async next(tx) {
      const transaction = transactions.get(tx)
      const broken = transaction.broken()
      if (broken !== undefined) throw broken
      // A savepoint with the same name replaces the previous one.
      await transaction.run(`SAVEPOINT ${part}`)
    },
    async undo(tx) {
      try {
        const transaction = transactions.get(tx)
        transaction.suspension.rolledBack()
        await transaction.run(`ROLLBACK TO SAVEPOINT ${part}`)
      } catch (error) {
        throw isMissingSavepoint(error) ? endedError(error) : error
      }
    },
  }
}
