import type { FactChange, Facts, NamedFact } from '../../contracts/index.ts'
import { changedFact, type FactRow, stillStands } from '../../facts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { now, type Statements } from './statements.ts'
import { swallowed } from './swallowed.ts'
import { statementsIn, type Transactions } from './transactions.ts'

const selectNow = `SELECT ${now} AS now`
const selectOne = `SELECT value, revision, for_ms, expires_at FROM main.justonce_facts WHERE name = ?`
const setOne = `INSERT INTO main.justonce_facts (name, value, revision, for_ms, expires_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value, revision = excluded.revision, for_ms = excluded.for_ms,
    expires_at = excluded.expires_at`
const deleteOne = `DELETE FROM main.justonce_facts WHERE name = ?`
/** The expression that the index uses. */
const kind = `substr(name, 1, instr(name || ' ', ' ') - 1)`
const selectKind = `SELECT name, value, revision FROM main.justonce_facts
  WHERE ${kind} = ? AND (expires_at IS NULL OR expires_at > ${now}) ORDER BY revision DESC, name DESC LIMIT ?`
const deleteExpired = `DELETE FROM main.justonce_facts WHERE ${kind} = ? AND expires_at <= ${now}`

interface Row {
  readonly value: string
  readonly revision: number
  readonly for_ms: number | null
  readonly expires_at: number | null
}

/** A change already holds the write lock, so a read is as good as a compare-and-set. */
export function sqliteFacts<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Facts<Database> {
  return {
    read: (names) =>
      reader.read((statements) => {
        const time = timeOf(statements)
        return names.map((name) => {
          const known = rowOf(statements, name)
          return stillStands(known, time) ? { value: known.value, revision: known.revision } : undefined
        })
      }),
    list: (kind, limit) =>
      reader.read((statements) =>
        statements
          .all<NamedFact>(selectKind, kind, limit)
          .map(({ name, value, revision }) => ({ name, value, revision })),
      ),
    change: async (tx, changes) =>
      tx === undefined
        ? await transactions.short((statements) => changeAll(statements, changes))
        : changeAll(statementsIn(tx), changes),
    async remove(tx, which) {
      const removeAll = (statements: Statements) => {
        if ('expiredOf' in which) statements.run(deleteExpired, which.expiredOf)
        else for (const name of which) statements.run(deleteOne, name)
      }
      if (tx === undefined) await transactions.short(removeAll)
      else removeAll(statementsIn(tx))
    },
  }
}

function changeAll(statements: Statements, changes: readonly FactChange[]): (number | undefined)[] {
  return changes.map((change) => {
    const { row, revision } = changedFact(rowOf(statements, change.name), change, timeOf(statements))
    if (row === undefined) return revision
    const { value, forMs = null, expiresAt = null } = row
    if (statements.run(setOne, change.name, value, row.revision, forMs, expiresAt) === 0)
      throw swallowed('a fact was not changed', 'justonce_facts')
    return revision
  })
}

function timeOf(statements: Statements): number {
  return statements.get<{ now: number }>(selectNow)?.now ?? 0
}

function rowOf(statements: Statements, name: string): FactRow | undefined {
  const row = statements.get<Row>(selectOne, name)
  if (row === undefined) return undefined
  const { value, revision, for_ms, expires_at } = row
  return { value, revision, forMs: for_ms ?? undefined, expiresAt: expires_at ?? undefined }
}
