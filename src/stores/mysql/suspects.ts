import type { Suspects } from '../../contracts/index.ts'
import { bytes, integer, nowMs, numberIn, textIn } from './cells.ts'
import type { MysqlConnectionShape } from './client-shapes.ts'
import type { OpenTransactions } from './open-transaction.ts'
import type { ShortTransactions } from './short-transactions.ts'
import { foundByValue } from './statement-parts.ts'
import type { Tables } from './tables.ts'

/** Every statement meets its rows in one order, so that two processes never wait for each other. */
export function mysqlSuspects<Native extends MysqlConnectionShape>(
  short: ShortTransactions<Native>,
  transactions: OpenTransactions<Native>,
  { suspects }: Tables,
): Suspects<Native> {
  const among = (ids: readonly string[]) =>
    `id IN (${ids
      .toSorted()
      .map((id) => bytes(id))
      .join(', ')})`
  return {
    async look(ids) {
      if (ids.length === 0) return []
      const rows = await short.read(`SELECT id, count FROM ${suspects} WHERE ${among(ids)}`)
      const counts = new Map(rows.map(([id, count]) => [textIn(id), numberIn(count)]))
      return ids.map((id) => counts.get(id) ?? 0)
    },
    async begin(ids) {
      if (ids.length === 0) return
      const rows = [...new Set(ids)].sort().map((id) => `(${bytes(id)}, 1, ${nowMs})`)
      await short.run((runner) =>
        runner.run(
          `INSERT INTO ${suspects} (id, count, seen_at) VALUES ${rows.join(', ')}
           ON DUPLICATE KEY UPDATE count = ${suspects}.count + 1, seen_at = ${nowMs}`,
        ),
      )
    },
    async clear(tx, ids) {
      if (ids.length === 0) return
      const values = ids.toSorted().map((id) => bytes(id))
      await transactions.runner(tx).run(`DELETE known FROM ${foundByValue(suspects, 'id', values)}`)
    },
    async forgive(ids) {
      if (ids.length === 0) return
      await short.run(async (runner) => {
        await runner.run(`UPDATE ${suspects} SET count = count - 1 WHERE ${among(ids)}`)
        await runner.run(`DELETE FROM ${suspects} WHERE ${among(ids)} AND count <= 0`)
      })
    },
    async forget(olderThanMs) {
      await short.run((runner) =>
        runner.run(`DELETE FROM ${suspects} WHERE seen_at < ${nowMs} - ${integer(olderThanMs)}`),
      )
    },
  }
}
