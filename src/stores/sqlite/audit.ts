import type { Audit, AuditEntry } from '../../contracts/index.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { now } from './statements.ts'
import { statementsIn } from './transactions.ts'

const insertEntry = `INSERT INTO main.justonce_audit (at, action, done_by, why, subject) VALUES (${now}, ?, ?, ?, ?)`
const selectLatest = `SELECT at, action, done_by, why, subject FROM main.justonce_audit ORDER BY number DESC LIMIT ?`

interface AuditRow {
  readonly at: number
  readonly action: AuditEntry['action']
  readonly done_by: string
  readonly why: string
  readonly subject: string
}

export function sqliteAudit<Database extends SqliteDatabase>(reader: Reader): Audit<Database> {
  return {
    async append(tx, entries) {
      const statements = statementsIn(tx)
      for (const { action, by, why, subject } of entries) statements.run(insertEntry, action, by, why, subject)
    },
    list: (limit) =>
      reader.read((statements) =>
        statements
          .all<AuditRow>(selectLatest, limit)
          .map(({ at, action, done_by, why, subject }) => ({ action, by: done_by, why, subject, at: new Date(at) })),
      ),
  }
}
