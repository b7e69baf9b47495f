import type { Parts } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { statementsIn } from './transactions.ts'

export function sqliteParts<Database extends SqliteDatabase>(): Parts<Database> {
  const withOpenPart = new WeakSet<Database>()
  return {
    async next(tx) {
      const statements = statementsIn(tx)
      if (withOpenPart.has(tx)) statements.exec('RELEASE justonce_part')
      statements.exec('SAVEPOINT justonce_part')
      withOpenPart.add(tx)
    },
    async undo(tx) {
      const statements = statementsIn(tx)
      if (!withOpenPart.has(tx)) throw new JustonceError('TX_ENDED', { message: 'There is no part to undo.' })
      statements.exec('ROLLBACK TO justonce_part')
    },
  }
}
