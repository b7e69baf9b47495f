import { expect, test } from 'vitest'
import { createMeta as mysqlMeta, migrations as mysqlMigrations } from '../../src/stores/mysql/migrations/index.ts'
import { tableNames as mysqlNames } from '../../src/stores/mysql/tables.ts'
import {
  createMeta as postgresMeta,
  migrations as postgresMigrations,
} from '../../src/stores/postgres/migrations/index.ts'
import { tableNames as postgresNames } from '../../src/stores/postgres/tables.ts'
import { migrations as sqliteMigrations } from '../../src/stores/sqlite/schema.ts'

/** What only one database needs. */
const own: Readonly<Record<string, readonly string[]>> = {
  mysql: ['facts.kind', 'inbox.token', 'scopes.made_at', 'scopes.scope'],
  postgres: [],
  sqlite: ['meta.pinged_at'],
}

const postgres = postgresNames('justonce_', undefined)
const mysql = mysqlNames('justonce_', 'app')
const sql = {
  mysql: [...mysqlMeta(mysql), ...mysqlMigrations.flatMap((create) => create(mysql))].join(';\n'),
  postgres: [postgresMeta(postgres), ...postgresMigrations.map((create) => create(postgres))].join('\n'),
  sqlite: sqliteMigrations.join('\n'),
}

/** `table.column` for each, sorted. */
function columnsIn(text: string): string[] {
  const tables = text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?\S*justonce_(\w+)\W* \(\n(.*?)\n\)/gs)
  return [...tables]
    .flatMap(([, table, lines = '']) =>
      [...lines.matchAll(/^ {2}`?([a-z_]+)/gm)].map(([, column]) => `${table}.${column}`),
    )
    .sort()
}

test.each(['mysql', 'sqlite'] as const)('%s and Postgres have the same columns', (name) => {
  const shared = (of: keyof typeof sql) => columnsIn(sql[of]).filter((column) => !own[of]?.includes(column))
  expect(columnsIn(sql[name])).toEqual(expect.arrayContaining([...(own[name] ?? [])]))
  expect(shared(name)).toEqual(shared('postgres'))
})
