import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atAddress, freePort, localhost } from './address.ts'
import { findBinaries } from './find-binaries.ts'
import { type OwnServer, startOwnServer } from './own-server.ts'
import { withClient } from './postgres-databases.ts'
import type { ServerDefinition } from './server.ts'

export const pgbouncer: ServerDefinition = {
  name: 'pgbouncer',
  packages: ['pgbouncer'],
  needs: ['postgres'],
  find: () => findBinaries(['pgbouncer'], ['/usr/sbin']),
  start: ({ postgres }) => startPgBouncer({ postgresUrl: postgres!, poolMode: 'transaction' }),
  versionAt: askVersion,
}

export interface PgBouncerOptions {
  readonly postgresUrl: string
  readonly poolMode: 'session' | 'transaction' | 'statement'
  /** Server connections per database. */
  readonly poolSize?: number
}

export interface PgBouncerServer extends OwnServer {
  readonly port: number
  /** The way through the pooler to any database of the same Postgres. */
  through(databaseUrl: string): string
}

export async function startPgBouncer(options: PgBouncerOptions): Promise<PgBouncerServer> {
  const port = await freePort()
  const through = (databaseUrl: string) => atAddress(databaseUrl, localhost, port)
  const server = await startOwnServer(pgbouncer, {
    url: through(options.postgresUrl),
    user: 'postgres',
    // SIGTERM waits for clients in newer versions, and it has no data to lose.
    endSignal: 'SIGKILL',
    prepare({ path }, binaries) {
      const configFile = join(path, 'pgbouncer.ini')
      writeFileSync(configFile, configText(options, port))
      return { start: [binaries.pgbouncer!, configFile] }
    },
  })
  return { ...server, port, through }
}

function configText({ postgresUrl, poolMode, poolSize = 20 }: PgBouncerOptions, port: number): string {
  const target = new URL(postgresUrl)
  const login = [`user=${quoted(target.username)}`]
  if (target.password !== '') login.push(`password=${quoted(target.password)}`)
  return `[databases]
* = host=${target.hostname} port=${target.port || 5432} ${login.join(' ')}

[pgbouncer]
listen_addr = ${localhost}
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
default_pool_size = ${poolSize}
max_client_conn = 500
`
}

function quoted(urlPart: string): string {
  return `'${decodeURIComponent(urlPart).replaceAll("'", "''")}'`
}

/** Asks PgBouncer's own console, which is a database only in name. */
function askVersion(url: string): Promise<string> {
  const console = new URL(url)
  console.pathname = '/pgbouncer'
  return withClient(console.href, async (client) => {
    const { rows } = await client.query<{ version: string }>('SHOW VERSION')
    return rows[0]!.version.replace(/^PgBouncer /, '')
  })
}
