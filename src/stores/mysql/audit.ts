import type { Audit } from '../../contracts/index.ts'
import { bytes, integer, nowMs } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { auditIn } from './rows.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { inChunks } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export function mysqlAudit<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  { audit }: Tables,
): Audit<Native> {
  return {
    async append(tx, entries) {
      const rows = entries.map(
        ({ action, by, why, subject }) =>
          `(${nowMs}, ${bytes(action)}, ${bytes(by)}, ${bytes(why)}, ${bytes(subject)})`,
      )
      for (const chunk of inChunks(rows))
        await transactions
          .runner(tx)
          .run(`INSERT INTO ${audit} (at, action, done_by, why, subject) VALUES ${chunk.join(', ')}`)
    },
    async list(limit) {
      const rows = await short.read(
        `SELECT action, done_by, why, subject, at FROM ${audit} ORDER BY seq DESC LIMIT ${integer(limit)}`,
      )
      return rows.map(auditIn)
    },
  }
}
