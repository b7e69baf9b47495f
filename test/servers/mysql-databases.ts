import { randomBytes } from 'node:crypto'
import { createConnection } from 'mysql2/promise'
import { prefixOfThisRun } from './postgres-databases.ts'

/** Connects, asks one question and always disconnects. */
export async function askMysql<Row>(url: string, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 })
  // A killed server reports itself here too; the question sees the same failure as a rejection.
  connection.on('error', () => {})
  try {
    const [rows] = await connection.query(sql, [...values])
    return rows as Row[]
  } finally {
    connection.destroy()
  }
}

/** Creates an empty database and returns its URL. Without a name it gets one that no other test file has. */
export async function createMysqlDatabase(adminUrl: string, name?: string): Promise<string> {
  const database = name ?? `${prefixOfThisRun()}${randomBytes(6).toString('hex')}`
  await askMysql(adminUrl, 'CREATE DATABASE ??', [database])
  return mysqlDatabaseUrl(adminUrl, database)
}

export function mysqlDatabaseUrl(url: string, database: string): string {
  const moved = new URL(url)
  moved.pathname = `/${encodeURIComponent(database)}`
  return moved.href
}

/** Drops what `createMysqlDatabase` made without a name in this run. */
export async function dropMysqlDatabasesOfThisRun(adminUrl: string): Promise<void> {
  const ours = 'SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE ?'
  const pattern = `${prefixOfThisRun().replaceAll('_', '\\_')}%`
  for (const { name } of await askMysql<{ name: string }>(adminUrl, ours, [pattern]))
    await askMysql(adminUrl, 'DROP DATABASE ??', [name])
}
