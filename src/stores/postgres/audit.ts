import type { Audit, AuditEntry } from '../../contracts/index.ts'
import { textArray } from './cells.ts'
import type { ConnectionSource } from './connection.ts'
import { inMs } from './parking/parked-columns.ts'
import { auditIn } from './rows.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'
import type { OpenTransactions } from './transactions/open-transaction.ts'

export function postgresAudit<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { audit }: Tables,
): Audit<Tx> {
  const append = statement(
    `INSERT INTO ${audit} (at, action, done_by, why, subject)
     SELECT statement_timestamp(), action, done_by, why, subject
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
          WITH ORDINALITY AS given (action, done_by, why, subject, place) ORDER BY place`,
  )
  const list = statement(
    `SELECT action, done_by, why, subject, ${inMs('at')} FROM ${audit} ORDER BY seq DESC LIMIT $1::int`,
  )
  return {
    async append(tx, entries) {
      if (entries.length === 0) return
      const texts = (pick: (entry: AuditEntry) => string) => textArray(entries.map(pick))
      await transactions
        .runner(tx)
        .run(append, [
          texts(({ action }) => action),
          texts(({ by }) => by),
          texts(({ why }) => why),
          texts(({ subject }) => subject),
        ])
    },
    async list(limit) {
      const { rows } = await source.runAlone(list, [String(limit)])
      return rows.map(auditIn)
    },
  }
}
