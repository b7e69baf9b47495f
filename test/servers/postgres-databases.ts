import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** Set by global-setup.ts; tells the databases of this run from those of another run on the same server. */
export const runVariable = 'JUSTONCE_TEST_RUN'

export function nameThisRun(): void {
  process.env[runVariable] ??= randomBytes(4).toString('hex')
}

export function prefixOfThisRun(): string {
  return `justonce_test_${process.env[runVariable] ?? process.pid}_`
}

/** Connects, runs one task and always disconnects. */
export async function withClient<T>(url: string, task: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  // A killed server reports itself here too; the task sees the same failure as a rejection.
  client.on('error', () => {})
  try {
    await client.connect()
    return await task(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Creates an empty database and returns its URL. Without a name it gets one that no other test file has. */
export async function createDatabase(adminUrl: string, name?: string): Promise<string> {
  const database = name ?? `${prefixOfThisRun()}${randomBytes(6).toString('hex')}`
  await withClient(adminUrl, (client) => client.query(`CREATE DATABASE ${client.escapeIdentifier(database)}`))
  const url = new URL(adminUrl)
  url.pathname = `/${encodeURIComponent(database)}`
  return url.href
}

/** Puts a copy of one database in the place of another. Whoever uses one of them is cut off, and refused until it is done. */
export async function copyDatabase(adminUrl: string, { from, to }: Readonly<Record<'from' | 'to', string>>) {
  await withClient(adminUrl, async (client) => {
    const [source, copy] = [client.escapeIdentifier(from), client.escapeIdentifier(to)]
    await client.query(`ALTER DATABASE ${source} WITH ALLOW_CONNECTIONS false`)
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [from])
    await client.query(`DROP DATABASE IF EXISTS ${copy} WITH (FORCE)`)
    await client.query(`CREATE DATABASE ${copy} TEMPLATE ${source}`)
    await client.query(`ALTER DATABASE ${source} WITH ALLOW_CONNECTIONS true`)
  })
}

/** Drops what `createDatabase` made without a name in this run. */
export async function dropDatabasesOfThisRun(adminUrl: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const ours = 'SELECT datname FROM pg_database WHERE starts_with(datname, $1)'
    const { rows } = await client.query<{ datname: string }>(ours, [prefixOfThisRun()])
    for (const { datname } of rows) await client.query(`DROP DATABASE ${client.escapeIdentifier(datname)} WITH (FORCE)`)
  })
}
