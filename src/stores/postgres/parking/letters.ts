import type { Letters } from '../../../contracts/index.ts'
import { hexOf, textIn } from '../cells.ts'
import type { ConnectionSource } from '../connection.ts'
import { groupIn } from '../rows.ts'
import { statement } from '../statement.ts'
import type { Tables } from '../tables.ts'
import type { OpenTransactions } from '../transactions/open-transaction.ts'
import { inMs } from './parked-columns.ts'
import { filterSql } from './parked-filter.ts'

export function postgresLetters<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  tables: Tables,
): Letters<Tx> {
  const { parked } = tables
  const replace = statement(
    `WITH held AS MATERIALIZED (
       SELECT id FROM ${parked} WHERE handler = $1::text AND key = $2::text AND state = 'dead' FOR UPDATE SKIP LOCKED)
     UPDATE ${parked} AS known
     SET envelope = $3::text::bytea, body = $4::text::bytea, original_body = coalesce(known.original_body, known.body),
         revision = known.revision + 1
     FROM held WHERE known.id = held.id`,
  )
  const groups = (where: string) =>
    statement(
      `SELECT handler, reason, shape, count(*) AS letters, ${inMs('min(parked_at)')}, ${inMs('max(changed_at)')}
       FROM ${parked} WHERE state = 'dead' AND ${where} GROUP BY handler, reason, shape
       ORDER BY letters DESC, handler, reason, shape LIMIT $1::int`,
    )
  const discard = (where: string) =>
    statement(
      `WITH found AS MATERIALIZED (
         SELECT id FROM ${parked} WHERE state = 'dead' AND ${where} ORDER BY id LIMIT $1::int FOR UPDATE SKIP LOCKED)
       DELETE FROM ${parked} AS known USING found WHERE known.id = found.id
       RETURNING known.id, known.handler, known.key`,
    )

  return {
    async groups(filter, limit) {
      const { where, values } = filterSql(filter, tables, [String(limit)])
      const { rows } = await source.runAlone(groups(where), values)
      return rows.map(groupIn)
    },
    async discard(tx, filter, limit) {
      const { where, values } = filterSql(filter, tables, [String(limit)])
      const { rows } = await transactions.runner(tx).run(discard(where), values)
      return [...rows]
        .sort((a, b) => Number(a[0]) - Number(b[0]))
        .map(([, handler, key]) => ({ handler: textIn(handler), key: textIn(key) }))
    },
    async replace(tx, { handler, key }, { envelope, body }) {
      const bytes = [envelope, body].map((each) => `\\x${hexOf(each)}`)
      const { count } = await transactions.runner(tx).run(replace, [handler, key, ...bytes])
      return count > 0
    },
  }
}
