import type { ParkedChange, ParkedFilter, Parking, StoredParkedMessage } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase, SqliteValue } from './sqlite-database.ts'
import { bytes, now, type Statements } from './statements.ts'
import { statementsIn } from './transactions.ts'

const insertMessage = `INSERT INTO justonce_parked (handler, key, message_id, type, source, envelope, body, state, attempts,
  reason, errors, step, independent, parked_at, next_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${now}, ${now} + ?) ON CONFLICT DO NOTHING`
const selectDue = `SELECT * FROM justonce_parked AS due WHERE state = 'waiting' AND next_at <= ${now}
  AND handler IN (SELECT value FROM json_each(?))
  AND (independent OR NOT EXISTS (SELECT 1 FROM justonce_parked AS earlier WHERE earlier.source = due.source
    AND earlier.message_id = due.message_id AND earlier.type = due.type AND earlier.step < due.step))
  ORDER BY next_at, sequence LIMIT ?`
const selectOne = `SELECT * FROM justonce_parked WHERE handler = ? AND key = ?`
const deleteOne = `DELETE FROM justonce_parked WHERE handler = ? AND key = ?`
const changeOne = `UPDATE justonce_parked SET state = ?, attempts = ?, reason = ?, errors = ?, next_at = ${now} + ?
  WHERE handler = ? AND key = ?`
const filtered = `FROM justonce_parked WHERE state = coalesce(?, state) AND handler = coalesce(?, handler)`

interface ParkedRow {
  readonly handler: string
  readonly key: string
  readonly message_id: string
  readonly type: string
  readonly source: string
  readonly envelope: Uint8Array
  readonly body: Uint8Array
  readonly state: 'waiting' | 'dead'
  readonly attempts: number
  readonly reason: string
  readonly errors: string
  readonly step: number
  readonly independent: number
  readonly parked_at: number
  readonly next_at: number
}

/** Whoever takes has the write lock until the transaction ends, so what is selected is locked. */
export function sqliteParking<Database extends SqliteDatabase>(reader: Reader): Parking<Database> {
  return {
    async park(tx, messages) {
      const statements = statementsIn(tx)
      for (const each of messages) {
        const { handler, key, messageId, type, source, message, state, attempts, reason, errors, step } = each
        const { envelope, body } = message
        const values = [handler, key, messageId, type, source, envelope, body, state, attempts, reason, errors, step]
        statements.run(insertMessage, ...values, each.independent ? 1 : 0, Math.ceil(each.delayMs))
      }
    },
    async takeDue(tx, { limit, handlers }) {
      return statementsIn(tx).all<ParkedRow>(selectDue, JSON.stringify(handlers), limit).map(parkedMessage)
    },
    async take(tx, { handler, key }) {
      const row = statementsIn(tx).get<ParkedRow>(selectOne, handler, key)
      return row && parkedMessage(row)
    },
    async change(tx, changes) {
      const statements = statementsIn(tx)
      for (const change of changes) apply(statements, change)
    },
    list: (filter = {}) =>
      reader.read((statements) => {
        const sql = `SELECT * ${filtered} ORDER BY sequence LIMIT ?`
        return statements.all<ParkedRow>(sql, ...filterValues(filter), filter.limit ?? -1).map(parkedMessage)
      }),
    count: (filter = {}) =>
      reader.read((statements) => {
        const sql = `SELECT count(*) AS parked FROM (SELECT 1 ${filtered} LIMIT ?)`
        return statements.get<{ parked: number }>(sql, ...filterValues(filter), filter.limit ?? -1)?.parked ?? 0
      }),
  }
}

function apply(statements: Statements, change: ParkedChange): void {
  const { handler, key } = change
  if (change.kind === 'done') {
    statements.run(deleteOne, handler, key)
    return
  }
  const state = change.kind === 'again' ? 'waiting' : 'dead'
  const delayMs = change.kind === 'again' ? Math.ceil(change.delayMs) : 0
  statements.run(changeOne, state, change.attempts, change.reason, change.errors, delayMs, handler, key)
}

function filterValues({ state, handler }: ParkedFilter): SqliteValue[] {
  return [state ?? null, handler ?? null]
}

function parkedMessage(row: ParkedRow): StoredParkedMessage {
  const { handler, key, type, source, state, attempts, reason, errors, step } = row
  return {
    handler,
    key,
    messageId: row.message_id,
    type,
    source,
    message: { envelope: bytes(row.envelope), body: bytes(row.body) },
    state,
    attempts,
    reason,
    errors,
    step,
    independent: row.independent === 1,
    parkedAt: new Date(row.parked_at),
    nextAt: new Date(row.next_at),
  }
}
