import type { Schema } from '../../contracts/index.ts'
import { checkNotNewer, checkVersion } from '../sql/schema-version.ts'
import { tables } from './migrations/0001-tables.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { Statements } from './statements.ts'
import type { Transactions } from './transactions.ts'

/** The first is version 1. A released migration is never changed; the next change is a new migration at the end. */
export const migrations: readonly string[] = [tables]

const setVersion = `UPDATE main.justonce_meta SET version = ?`

/** Only tests pass other migrations, to check how today's tables get to the next version. */
export function sqliteSchema<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
  steps: readonly string[] = migrations,
): Schema {
  const wanted = steps.length
  return {
    async install() {
      await transactions.short((statements) => {
        const version = installedVersion(statements)
        checkNotNewer(version, wanted)
        if (version === wanted) return
        for (const migration of steps.slice(version)) statements.exec(migration)
        statements.run(setVersion, wanted)
      })
    },
    async check() {
      checkVersion(await reader.read(installedVersion), wanted, 'justonce_meta table in the SQLite file')
    },
    print() {
      const texts = steps.map((sql, index) => `-- version ${index + 1}\n${sql.trim()}\n`)
      return `BEGIN IMMEDIATE;\n${texts.join('\n')}\n${setVersion.replace('?', `${wanted}`)};\nCOMMIT;\n`
    },
  }
}

function installedVersion(statements: Statements): number {
  if (!hasTables(statements)) return 0
  return statements.get<{ version: number }>('SELECT version FROM main.justonce_meta')?.version ?? 0
}

export function hasTables(statements: Statements): boolean {
  const table = `SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'justonce_meta'`
  return statements.get(table) !== undefined
}
