import type { Redrives } from '../../../contracts/index.ts'
import { dateIn } from '../cells.ts'
import type { ConnectionSource } from '../connection.ts'
import { progressIn, redriveIn } from '../rows.ts'
import type { Tables } from '../tables.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { filterSql } from './parked-filter.ts'
import { redriveColumns, redriveStatements } from './redrive-statements.ts'

export function postgresRedrives<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  tables: Tables,
): Redrives<Tx> {
  const statements = redriveStatements(tables)
  return {
    async start(tx, { id, by, why, canary, perSecond, stopAfterFailures }, filter) {
      const rate = perSecond === undefined ? null : String(perSecond)
      const settings = [id, by, why, String(canary), rate, String(stopAfterFailures)]
      const { where, values } = filterSql(filter, tables, settings)
      const [, started] = await transactions.runner(tx).runInTurn([
        { statement: statements.lockStart, values: [] },
        { statement: statements.start(where), values },
      ])
      return Number(started?.rows[0]?.[0])
    },
    async take(tx) {
      const runner = transactions.runner(tx)
      const row = (await runner.run(statements.take, [])).rows[0]
      if (row === undefined) return undefined
      const redrive = redriveIn(row)
      // Counted after the lock, so that whatever the last driver has done is in it.
      const counted = (await runner.run(statements.progress, [redrive.id])).rows[0] ?? []
      return { redrive, progress: progressIn(counted), now: dateIn(counted[3]) }
    },
    async release(tx, id, limit) {
      return (await transactions.runner(tx).run(statements.release, [id, String(limit)])).count
    },
    async end(tx, id, state) {
      await transactions.runner(tx).run(statements.end, [id, state])
    },
    async find(id) {
      const row = (await source.runAlone(statements.find, [id])).rows[0]
      return row && { redrive: redriveIn(row), progress: progressIn(row.slice(redriveColumns)) }
    },
    async list(limit) {
      return (await source.runAlone(statements.list, [String(limit)])).rows.map(redriveIn)
    },
  }
}
