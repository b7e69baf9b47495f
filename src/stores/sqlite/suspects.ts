import type { Suspects } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { now } from './statements.ts'
import { statementsIn, type Transactions } from './transactions.ts'

const countOne = `INSERT INTO main.justonce_suspects (id, count, seen_at) VALUES (?, 1, ${now})
  ON CONFLICT DO UPDATE SET count = count + 1, seen_at = excluded.seen_at`
const countOf = `SELECT count FROM main.justonce_suspects WHERE id = ?`
const deleteOne = `DELETE FROM main.justonce_suspects WHERE id = ?`
const uncountOne = `UPDATE main.justonce_suspects SET count = count - 1 WHERE id = ?`
const deleteInnocent = `DELETE FROM main.justonce_suspects WHERE id = ? AND count <= 0`
const deleteOlder = `DELETE FROM main.justonce_suspects WHERE seen_at < ${now} - ?`

export function sqliteSuspects<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Suspects<Database> {
  return {
    look: (ids) =>
      reader.read((statements) => ids.map((id) => statements.get<{ count: number }>(countOf, id)?.count ?? 0)),
    begin: (ids) =>
      transactions.short((statements) => {
        for (const id of ids) statements.run(countOne, id)
      }),
    async clear(tx, ids) {
      const statements = statementsIn(tx)
      for (const id of ids) statements.run(deleteOne, id)
    },
    forgive: (ids) =>
      transactions.short((statements) => {
        for (const id of ids) {
          statements.run(uncountOne, id)
          statements.run(deleteInnocent, id)
        }
      }),
    forget: (olderThanMs) =>
      transactions.short((statements) => void statements.run(deleteOlder, Math.ceil(olderThanMs))),
  }
}
