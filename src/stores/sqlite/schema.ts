import type { Schema } from '../../contracts/index.ts'
import { JustonceError } from '../../errors/index.ts'
import { tables } from './migrations/0001-tables.ts'
import type { Reader } from './reader.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { Statements } from './statements.ts'
import type { Transactions } from './transactions.ts'

/** The first is version 1. What has been released is never changed; the next change is a new one at the end. */
const migrations: readonly string[] = [tables]

const setVersion = `INSERT INTO justonce_meta (name, value) VALUES ('schema_version', ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`

export function sqliteSchema<Database extends SqliteDatabase>(
  transactions: Transactions<Database>,
  reader: Reader,
): Schema {
  return {
    async install() {
      await transactions.short((statements) => {
        const version = installedVersion(statements)
        if (version > migrations.length) throw newerError(version)
        if (version === migrations.length) return
        for (const migration of migrations.slice(version)) statements.exec(migration)
        statements.run(setVersion, String(migrations.length))
      })
    },
    async check() {
      const version = await reader.read(installedVersion)
      if (version > migrations.length) throw newerError(version)
      if (version === 0)
        throw new JustonceError('SCHEMA_MISSING', { message: 'There is no justonce_meta table in the SQLite file.' })
      if (version < migrations.length)
        throw new JustonceError('SCHEMA_OLD', {
          message: `The tables have version ${version}, this code wants ${migrations.length}.`,
        })
    },
    print() {
      const steps = migrations.map((sql, index) => `-- version ${index + 1}\n${sql.trim()}\n`)
      return `BEGIN IMMEDIATE;\n${steps.join('\n')}\n${setVersion.replace('?', `'${migrations.length}'`)};\nCOMMIT;\n`
    },
  }
}

function installedVersion(statements: Statements): number {
  if (!hasTables(statements)) return 0
  const row = statements.get<{ value: string }>(`SELECT value FROM justonce_meta WHERE name = 'schema_version'`)
  return Number(row?.value ?? 0)
}

export function hasTables(statements: Statements): boolean {
  const table = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'justonce_meta'`
  return statements.get(table) !== undefined
}

function newerError(version: number): JustonceError {
  return new JustonceError('SCHEMA_NEW', {
    message: `The tables have version ${version}, this code knows versions up to ${migrations.length}.`,
  })
}
