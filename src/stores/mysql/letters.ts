import type { Letters } from '../../contracts/index.ts'
import { bytes, integer, numberIn, textIn } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { conditionOf } from './parked-filter.ts'
import { groupIn } from './rows.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByValue, inGroups, isOneOf } from './statement-parts.ts'
import type { Tables } from './tables.ts'

export function mysqlLetters<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  tables: Tables,
): Letters<Native> {
  const { parked } = tables
  return {
    async groups(filter, limit) {
      const rows = await short.read(
        `SELECT handler, reason, shape, COUNT(*) AS letters, MIN(parked_at), MAX(changed_at)
         FROM ${parked} WHERE ${conditionOf({ ...filter, state: 'dead' }, tables)} GROUP BY handler, reason, shape
         ORDER BY letters DESC, handler, reason, shape LIMIT ${integer(limit)}`,
      )
      return rows.map(groupIn)
    },
    async discard(tx, filter, limit) {
      const runner = transactions.runner(tx)
      const { rows } = await runner.run(
        `SELECT id, handler, \`key\` FROM ${parked} WHERE ${conditionOf({ ...filter, state: 'dead' }, tables)}
         ORDER BY id LIMIT ${integer(limit)} FOR UPDATE SKIP LOCKED`,
      )
      if (rows.length === 0) return []
      const ids = rows.map(([id]) => textIn(id))
      for (const group of inGroups(ids)) await runner.run(`DELETE known FROM ${foundByValue(parked, 'id', group)}`)
      return rows.map(([, handler, key]) => ({ handler: textIn(handler), key: textIn(key) }))
    },
    async replace(tx, key, { envelope, body }) {
      const runner = transactions.runner(tx)
      const { rows } = await runner.run(
        `SELECT id FROM ${parked} FORCE INDEX (parked_key) WHERE ${isOneOf([key])} AND state = 'dead'
         FOR UPDATE SKIP LOCKED`,
      )
      if (rows.length === 0) return false
      // From left to right, as MySQL does it: the body that goes is the one that is kept.
      await runner.run(
        `UPDATE ${parked} SET original_body = COALESCE(original_body, \`body\`), envelope = ${bytes(envelope)},
           \`body\` = ${bytes(body)}, revision = revision + 1 WHERE id = ${numberIn(rows[0]?.[0])}`,
      )
      return true
    },
  }
}
