import type { Suspects } from '../../contracts/index.ts'
import { textArray } from './cells.ts'
import type { ConnectionSource } from './connection.ts'
import type { OpenTransactions } from './open-transaction.ts'
import { statement } from './statement.ts'
import type { Tables } from './tables.ts'

/** Every statement meets its rows in one order, so that two processes never wait for each other. */
export function postgresSuspects<Tx>(
  source: Pick<ConnectionSource<Tx>, 'runAlone'>,
  transactions: OpenTransactions<Tx>,
  { suspects }: Tables,
): Suspects<Tx> {
  const begin = statement(
    `INSERT INTO ${suspects} AS known (id, count, seen_at)
     SELECT DISTINCT id COLLATE "C", 1, statement_timestamp() FROM unnest($1::text[]) AS given (id) ORDER BY 1
     ON CONFLICT (id) DO UPDATE SET count = known.count + 1, seen_at = excluded.seen_at`,
  )
  const look = statement(`SELECT id, count FROM ${suspects} WHERE id = ANY ($1::text[])`)
  const held = `WITH held AS MATERIALIZED (
    SELECT id, count FROM ${suspects} WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE)`
  const clear = statement(`${held} DELETE FROM ${suspects} AS known USING held WHERE known.id = held.id`)
  const forgive = statement(
    `${held}, forgiven AS (DELETE FROM ${suspects} AS known USING held WHERE known.id = held.id AND held.count <= 1)
     UPDATE ${suspects} AS known SET count = held.count - 1 FROM held WHERE known.id = held.id AND held.count > 1`,
  )
  const forget = statement(
    `DELETE FROM ${suspects} WHERE seen_at < statement_timestamp() - $1::float8 * interval '1 millisecond'`,
  )
  return {
    async look(ids) {
      if (ids.length === 0) return []
      const { rows } = await source.runAlone(look, [textArray(ids)])
      const counts = new Map(rows.map(([id, count]) => [id, Number(count)]))
      return ids.map((id) => counts.get(id) ?? 0)
    },
    async begin(ids) {
      if (ids.length > 0) await source.runAlone(begin, [textArray(ids)])
    },
    async clear(tx, ids) {
      if (ids.length > 0) await transactions.runner(tx).run(clear, [textArray(ids)])
    },
    async forgive(ids) {
      if (ids.length > 0) await source.runAlone(forgive, [textArray(ids)])
    },
    async forget(olderThanMs) {
      await source.runAlone(forget, [String(olderThanMs)])
    },
  }
}
